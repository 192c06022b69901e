/** The pages on which callers connect their accounts at servers. */
import { escaped, page } from "../../../core/page.ts";

interface Shown {
  readonly server: string;
  /** Host of the server. */
  readonly host: string;
  readonly secret: string;
}

const hidden = (name: string, value: string) =>
  `<input type="hidden" name="${name}" value="${escaped(value)}">`;

const form = ({ server, secret }: Shown, fields: string) =>
  `<form method="post" action="/mcp/connect/${escaped(server)}">${hidden("t", secret)}${fields}<p><button>Continue</button></p></form>`;

const about = ({ server, host }: Shown, whose: string) =>
  `<p>weir wants to use the tools of <strong>${escaped(server)}</strong> at <strong>${escaped(host)}</strong> with your account there, for calls of ${whose}. Go on only if you asked for this yourself.</p>`;

/** @param person name of who is signed in @param token proves that the form is one of the session */
export function consentPage(shown: Shown, person: string, token: string): Response {
  return page(`Connect ${shown.server}`, about(shown, escaped(person)) + form(shown, hidden("token", token)));
}

/** @param fault a sentence about what was given before */
export function keyPage(shown: Shown, fault?: string): Response {
  const told = fault === undefined ? "" : `<p role="alert">${escaped(fault)}</p>`;
  const input = `<label>Key <input type="password" name="key" autocomplete="off" required autofocus></label>`;
  const body = told + about(shown, "the key with which you asked") + form(shown, input);
  return page(`Connect ${shown.server}`, body, fault === undefined ? 200 : 403);
}

/** While calls need no key. */
export function openPage(shown: Shown): Response {
  return page(
    `Connect ${shown.server}`,
    about(shown, "everybody who can reach this gateway") + form(shown, ""),
  );
}

/** A form must not lead elsewhere, so the page leads there. */
export function awayPage(location: string): Response {
  const { host } = new URL(location);
  const link = `<a class="go" href="${escaped(location)}">Sign in at ${escaped(host)}</a>`;
  return page("One moment", `<p>${link}</p>`, 200, { refresh: `0; url=${location}` });
}

export function connectedPage(server: string): Response {
  return page(
    "Connected",
    `<p>Your account at ${escaped(server)} is connected. You can close this page.</p>`,
  );
}

export function gonePage(): Response {
  const sentence =
    "This link has been used, or its ten minutes are over. Ask for a new one where you found it.";
  return page("This link is over", `<p role="alert">${sentence}</p>`, 410);
}

/** @param sentence for the person */
export function faultPage(sentence: string, status = 400): Response {
  return page("This does not work", `<p role="alert">${escaped(sentence)}</p>`, status);
}
