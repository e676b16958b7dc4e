import type { Bank } from './banks.js';

/** The bank's stylesheet: two colours make the brand. Served as a file, so that pages need no inline style. */
export function bankStyle(bank: Pick<Bank, 'colour' | 'colourDark'>): string {
  return `:root{--brand:${bank.colour};--brand-dark:${bank.colourDark};--ink:#1b2330;--quiet:#566070;--line:#d5dae2;--paper:#fff;--ground:#f2f4f7}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
a{color:var(--brand)}
.skip{position:absolute;left:-999px}
.skip:focus{left:8px;top:8px;background:#fff;padding:8px 12px;z-index:1}
header{background:linear-gradient(100deg,var(--brand-dark),var(--brand));color:#fff}
header div,main,footer{max-width:34rem;margin:0 auto;padding:0 1.25rem}
main.wide,header.wide div,footer.wide{max-width:64rem}
header div{display:flex;align-items:center;gap:.8rem;padding-top:1.05rem;padding-bottom:1.05rem}
.mark{display:grid;place-items:center;width:2.4rem;height:2.4rem;border-radius:.7rem;background:#fff;color:var(--brand-dark);font-weight:800;font-size:1.25rem}
.name{font-weight:700;font-size:1.1rem;line-height:1.2}
.tagline{display:block;font-weight:400;font-size:.82rem;opacity:.9}
.lock{margin-left:auto;font-size:.82rem;opacity:.95}
main{padding-top:1.6rem;padding-bottom:2.5rem}
ol.steps{display:flex;gap:.4rem;list-style:none;margin:0 0 1.2rem;padding:0;font-size:.8rem;color:var(--quiet)}
ol.steps li{flex:1;border-top:4px solid var(--line);padding-top:.35rem}
ol.steps li.done{border-color:var(--brand)}
ol.steps li[aria-current]{border-color:var(--brand);color:var(--ink);font-weight:600}
.card{background:var(--paper);border:1px solid var(--line);border-radius:.9rem;padding:1.5rem;box-shadow:0 1px 2px rgba(20,30,50,.05);margin-bottom:1.1rem}
h1{font-size:1.45rem;line-height:1.25;margin:0 0 .6rem}
h2{font-size:1.05rem;margin:1.4rem 0 .5rem}
p{margin:.4rem 0 .9rem}
.quiet{color:var(--quiet);font-size:.9rem}
label.field{display:block;font-weight:600;margin:1rem 0 .3rem}
input[type=text],input[type=password]{width:100%;font:inherit;padding:.7rem .8rem;border:1px solid #8a94a6;border-radius:.5rem;background:#fff;color:inherit}
input.code{letter-spacing:.5em;font-size:1.4rem;text-align:center}
input:focus-visible,button:focus-visible,a:focus-visible{outline:3px solid var(--brand);outline-offset:2px}
.choice{display:flex;gap:.8rem;align-items:flex-start;border:1px solid var(--line);border-radius:.7rem;padding:.8rem .9rem;margin:.5rem 0;cursor:pointer}
.choice:has(input:checked){border-color:var(--brand);box-shadow:inset 0 0 0 1px var(--brand)}
.choice input{width:1.2rem;height:1.2rem;margin:.2rem 0 0;accent-color:var(--brand)}
.choice span{flex:1}
.choice b{display:block}
.choice .amount{font-variant-numeric:tabular-nums;white-space:nowrap;font-weight:600;flex:0}
.actions{display:flex;gap:.7rem;margin-top:1.4rem;flex-wrap:wrap}
button,.button{flex:1;min-width:9rem;font:inherit;font-weight:600;padding:.8rem 1rem;border-radius:.6rem;border:1px solid var(--brand);background:var(--brand);color:#fff;cursor:pointer;text-align:center;text-decoration:none}
button:hover,.button:hover{background:var(--brand-dark)}
button.second{background:#fff;color:var(--brand-dark)}
button.second:hover{background:var(--ground)}
.alert{border-left:4px solid #b3261e;background:#fdecea;color:#5f1410;padding:.7rem .9rem;border-radius:.3rem;margin:0 0 1rem}
.hint{border:1px dashed #b48a00;background:#fff8e1;color:#5a4300;border-radius:.6rem;padding:.6rem .9rem;font-size:.88rem;margin-top:1.2rem}
.hint code,td code{font:600 .95em ui-monospace,SFMono-Regular,Menlo,monospace}
dl.facts{display:grid;grid-template-columns:auto 1fr;gap:.35rem 1rem;margin:.8rem 0}
dl.facts dt{color:var(--quiet)}
dl.facts dd{margin:0;text-align:right;font-weight:600;overflow-wrap:anywhere}
.sum{font-size:2rem;font-weight:700;font-variant-numeric:tabular-nums;margin:.2rem 0}
ul.ticks{padding-left:1.1rem;margin:.4rem 0}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.92rem}
td code{white-space:nowrap}
th,td{text-align:left;padding:.5rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}
footer{color:var(--quiet);font-size:.8rem;padding-bottom:2rem}
@media (max-width:26rem){.card{padding:1.1rem}.lock{display:none}}
`;
}
