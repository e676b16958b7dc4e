import type { FastifyReply } from 'fastify';

/** A page for a person who has come without a merchant's frontend. */
export interface PlainPage {
  title: string;
  text: string;
  /** Posts to the page's own address. */
  form?: { button: string; field?: { name: string; label: string } };
  status?: number;
}

const headers = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  // No `form-action`: browsers would hold the bank, to which the answer of a form leads, against it.
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
};

const marks: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (mark) => marks[mark] ?? mark);
}

export function sendPage(reply: FastifyReply, page: PlainPage): void {
  void reply
    .code(page.status ?? 200)
    .headers(headers)
    .type('text/html; charset=utf-8')
    .send(htmlOf(page));
}

function htmlOf({ title, text, form }: PlainPage): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Bank connection</title>
<style>body{font:1.1rem/1.5 system-ui;margin:15vh auto;max-width:32rem;padding:0 1rem}input,button{font:inherit;padding:.4rem .8rem}</style></head>
<body><main><h1>${escaped(title)}</h1><p>${escaped(text)}</p>${form === undefined ? '' : formOf(form)}</main></body>
</html>
`;
}

function formOf({ button, field }: NonNullable<PlainPage['form']>): string {
  const input =
    field === undefined
      ? ''
      : `<p><label>${escaped(field.label)}<br><input name="${escaped(field.name)}" required maxlength="100" autocomplete="off"></label></p>`;
  return `<form method="post">${input}<p><button>${escaped(button)}</button></p></form>`;
}
