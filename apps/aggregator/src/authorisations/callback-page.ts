import { createHash } from 'node:crypto';
import { LIFTED_FIELDS } from './callback-answer.js';

const STYLE = `
:root { color-scheme: light dark; font: 1.0625rem/1.5 system-ui, sans-serif; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; }
main { max-width: 32rem; padding: 2rem; }
h1 { font-size: 1.5rem; margin: 0 0 0.5rem; }
p { margin: 0; }
`;

/**
 * Headers of every page of the callback. There is no `form-action`: browsers apply it to the redirect that follows the
 * form too, and that redirect goes to the application's own callback. Nothing on these pages comes from the request.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** Headers of `/callback.js`. */
export const SCRIPT_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/javascript; charset=utf-8',
  'cache-control': 'public, max-age=3600',
  'x-content-type-options': 'nosniff',
};

/** Fills the form from the fragment, takes the fragment out of the history, and posts. */
export const LIFT_SCRIPT = `'use strict';
(() => {
  const form = document.querySelector('form[data-from-fragment]');
  const answer = new URLSearchParams(location.hash.slice(1));
  if (!form || ![...answer.keys()].length) {
    document.getElementById('waiting').hidden = true;
    document.getElementById('nothing').hidden = false;
    return;
  }
  for (const field of form.elements) {
    if (field.name && answer.has(field.name)) field.value = answer.get(field.name);
    else if (field.name) field.disabled = true;
  }
  history.replaceState(null, '', location.pathname);
  form.submit();
})();
`;

/** What the pages say; the texts are ours alone. */
export const OUTCOME_TEXTS = {
  authorised: [
    'Access granted',
    'Your bank has confirmed. You can close this window and go back to where you came from.',
  ],
  refused: ['Access not granted', 'Nothing was shared. You can close this window and go back to where you came from.'],
  failed: ['That did not work', 'Your bank could not complete the request. Close this window and try again.'],
  further: [
    'One more approval is needed',
    'You have agreed; your bank now asks whoever else must. You can close this window and go back to where you came from.',
  ],
  underway: ['One moment', 'Your bank’s answer is being processed. You can close this window.'],
  finished: [
    'Already done',
    'This request has been answered before, and nothing was changed. You can close this window.',
  ],
  unknown: ['This link is not valid', 'It belongs to no open request. Go back to where you came from and start again.'],
} as const satisfies Record<string, readonly [string, string]>;

/** One of the pages a user may end on. */
export type OutcomePage = keyof typeof OUTCOME_TEXTS;

/** A page that tells the user how it ended, for requests without a callback and for links that lead nowhere. */
export function outcomePage(outcome: OutcomePage): string {
  const [title, text] = OUTCOME_TEXTS[outcome];
  return page(title, `<h1>${title}</h1>\n<p role="status">${text}</p>`);
}

/**
 * The page that lifts the bank's answer out of the URL's fragment, which browsers never send, and posts it to us
 * (OpenID Connect hybrid flow, FAPI 1.0 Advanced).
 */
export function liftPage(): string {
  const fields = LIFTED_FIELDS.map((name) => `<input type="hidden" name="${name}">`).join('\n');
  const [title] = OUTCOME_TEXTS.unknown;
  return page(
    'One moment',
    `<h1>One moment</h1>
<p id="waiting" role="status">Your bank’s answer is being passed on.</p>
<p id="nothing" role="alert" hidden>${title}. ${OUTCOME_TEXTS.unknown[1]}</p>
<noscript><p>Your bank answers in a way that needs JavaScript. Please allow it for this page and load it again.</p></noscript>
<form method="post" action="/callback" data-from-fragment>
${fields}
</form>
<script src="/callback.js"></script>`,
  );
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
}
