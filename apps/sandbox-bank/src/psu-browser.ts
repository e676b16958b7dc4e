import { findPersona, personas, type Persona } from './personas.js';

const pagesMax = 20;
const deadlineMs = 20_000;

export interface Wish {
  authorisationUrl: string;
  decision: 'approve' | 'deny';
  persona?: string | undefined;
  /** Accounts to choose: ids, nicknames, or how a number ends. All of them when left out; the first for a payment. */
  accounts?: string[] | undefined;
  /** Whether to play the TPP's fragment-lifting page as well. */
  follow: boolean;
}

export class BrowsingError extends Error {}

interface Control {
  type: string;
  name: string;
  value: string;
  checked: boolean;
  label: string;
}

interface Form {
  action: string;
  controls: Control[];
  isFromFragment: boolean;
}

interface Page {
  url: string;
  text: string;
  forms: Form[];
}

/** A PSU with a browser of no JavaScript: keeps cookies per path, fills the bank's forms, goes where it is sent. */
export class PsuBrowser {
  readonly #jar = new Map<string, { value: string; path: string }>();
  #person: Persona | undefined;

  constructor(private readonly bankOrigin: string) {}

  /** Walks the bank's pages to the end; answers the address that the browser would go to next. */
  async authorise(wish: Wish): Promise<{ redirectUrl: string }> {
    let next: string | Page = wish.authorisationUrl;
    for (let pages = 0; pages < pagesMax; pages += 1) {
      const page: string | Page = typeof next === 'string' ? await this.#open(next) : next;
      if (typeof page === 'string') return { redirectUrl: wish.follow ? await this.#follow(page) : page };
      if (page.text.includes('<h1 data-done>')) return { redirectUrl: page.url };
      const forward: string | undefined = /<meta http-equiv="refresh" content="0;url=([^"]*)"/.exec(page.text)?.[1];
      next =
        forward === undefined
          ? await this.#submit(page, this.#fill(page, wish))
          : new URL(unescape(forward), page.url).href;
    }
    throw new BrowsingError('The bank showed too many pages');
  }

  /** Which fields the PSU types or ticks, by what the page asks for. */
  #fill(page: Page, wish: Wish): { form: Form; fields: URLSearchParams } {
    const holding = (name: string): Form | undefined =>
      page.forms.find((form) => form.controls.some((control) => control.name === name));
    const login = holding('username');
    if (login) {
      this.#person = wish.persona === undefined ? personNotNamed(page.text) : findPersona(wish.persona);
      const { id, password } = this.#you();
      return { form: login, fields: new URLSearchParams({ username: id, password }) };
    }
    const code = holding('code');
    if (code) return { form: code, fields: new URLSearchParams({ code: this.#you().code }) };
    const decision = holding('decision');
    if (!decision) {
      const alert = /role="alert">([^<]*)</.exec(page.text)?.[1];
      throw new BrowsingError(
        `The bank shows a page that ends the visit${alert === undefined ? '' : `: ${unescape(alert)}`}`,
      );
    }
    const fields = new URLSearchParams({ decision: wish.decision });
    for (const id of chooseAccounts(decision, wish.accounts)) fields.append('account', id);
    return { form: decision, fields };
  }

  #you(): Persona {
    if (!this.#person) throw new BrowsingError('There is no such persona');
    return this.#person;
  }

  /** An address outside of the bank is where the browser leaves for. */
  async #open(url: string): Promise<Page | string> {
    if (!this.#isBank(new URL(url))) return url;
    return this.#settle(url, await this.#request(url, {}));
  }

  async #submit(page: Page, { form, fields }: { form: Form; fields: URLSearchParams }): Promise<Page | string> {
    const target = new URL(form.action, page.url).href;
    const answer = await this.#request(target, {
      method: 'POST',
      body: fields.toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    return this.#settle(target, answer);
  }

  /** A redirect to another place ends the visit and is handed back; one within the bank is gone after. */
  async #settle(url: string, answer: Response): Promise<Page | string> {
    const location = answer.headers.get('location');
    if (answer.status >= 300 && answer.status < 400 && location !== null) {
      const target = new URL(location, url);
      return this.#isBank(target) ? this.#open(target.href) : target.href;
    }
    const text = await answer.text();
    return { url, text, forms: formsOf(text) };
  }

  #isBank(target: URL): boolean {
    return target.origin === this.bankOrigin && target.pathname.startsWith('/banks/');
  }

  async #request(url: string, init: RequestInit): Promise<Response> {
    const { pathname } = new URL(url);
    const cookie = [...this.#jar]
      .filter(([, entry]) => pathname.startsWith(entry.path))
      .map(([name, entry]) => `${name}=${entry.value}`)
      .join('; ');
    const headers = {
      ...(init.headers as Record<string, string> | undefined),
      accept: 'text/html',
      ...(cookie !== '' && this.#isBank(new URL(url)) && { cookie }),
    };
    const signal = AbortSignal.timeout(deadlineMs);
    const answer = await fetch(url, { ...init, redirect: 'manual', signal, headers }).catch((error: unknown) => {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : 'no answer';
      throw new BrowsingError(`The browser cannot reach ${new URL(url).origin}: ${cause}`);
    });
    if (this.#isBank(new URL(url))) for (const line of answer.headers.getSetCookie()) this.#keep(line);
    return answer;
  }

  #keep(line: string): void {
    const [, name, value] = /^([^=;]+)=([^;]*)/.exec(line) ?? [];
    if (name === undefined || value === undefined) return;
    const path = /;\s*path=([^;]*)/i.exec(line)?.[1] ?? '/';
    if (value === '') this.#jar.delete(name);
    else this.#jar.set(name, { value, path });
  }

  /** Plays the TPP's page that lifts a fragment into a form, as its script would. Without a fragment the TPP has it all already. */
  async #follow(redirect: string): Promise<string> {
    const target = new URL(redirect);
    const fragment = new URLSearchParams(target.hash.slice(1));
    target.hash = '';
    const answer = await this.#request(target.href, {});
    const away = answer.headers.get('location');
    if (away !== null) return new URL(away, target).href;
    const form = formsOf(await answer.text()).find((each) => each.isFromFragment);
    if (!form || fragment.size === 0) return target.href;
    const fields = new URLSearchParams();
    for (const control of form.controls) {
      const value = fragment.get(control.name) ?? (control.value === '' ? undefined : control.value);
      if (control.name !== '' && value !== undefined) fields.set(control.name, value);
    }
    const action = new URL(form.action, target).href;
    const posted = await this.#request(action, {
      method: 'POST',
      body: fields.toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    const location = posted.headers.get('location');
    return location === null ? action : new URL(location, action).href;
  }
}

/** The main persona, or the first one after whom a page does not name as having signed already. */
function personNotNamed(text: string): Persona | undefined {
  return personas.find((persona) => !text.includes(persona.name));
}

function chooseAccounts(form: Form, wanted: string[] | undefined): string[] {
  const offered = form.controls.filter((control) => control.name === 'account');
  const isSingle = offered.some((control) => control.type === 'radio');
  if (wanted === undefined) return (isSingle ? offered.slice(0, 1) : offered).map((control) => control.value);
  return wanted.map((wish) => {
    const found = offered.find(
      (control) => control.value === wish || control.label.toLowerCase().includes(wish.toLowerCase()),
    );
    if (!found) throw new BrowsingError('The bank offers no such account');
    return found.value;
  });
}

function unescape(text: string): string {
  return text
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&');
}

function attribute(tag: string, name: string): string | undefined {
  const match = new RegExp(`\\s${name}(?:="([^"]*)")?(?=[\\s>/])`, 'i').exec(tag);
  return match ? unescape(match[1] ?? '') : undefined;
}

function formsOf(text: string): Form[] {
  return [...text.matchAll(/(<form\b[^>]*>)([\s\S]*?)<\/form>/gi)].map(([, tag = '', inside = '']) => ({
    action: attribute(tag, 'action') ?? '',
    isFromFragment: attribute(tag, 'data-from-fragment') !== undefined,
    controls: [...inside.matchAll(/<(input|button)\b[^>]*>([\s\S]*?)(?=<input|<button|<\/label>|$)/gi)].map(
      ([whole, , after = '']) => ({
        type: attribute(whole, 'type') ?? 'text',
        name: attribute(whole, 'name') ?? '',
        value: attribute(whole, 'value') ?? '',
        checked: attribute(whole, 'checked') !== undefined,
        label: unescape(after.replace(/<[^>]*>/g, ' ')),
      }),
    ),
  }));
}
