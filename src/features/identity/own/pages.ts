/** The pages on which people let programs in: no script, and nothing happens before a button is pressed. */
import { escaped, HEADERS, page } from "../../../core/page.ts";
import type { Device } from "./devices.ts";
import { isLocal, type Program } from "./programs.ts";

/** What the forms have besides their buttons. */
type Fields = Readonly<Record<string, string>>;

const row = (label: string, html: string) => `<tr><th scope="row">${label}</th><td>${html}</td></tr>`;

const hidden = (fields: Fields) =>
  Object.entries(fields)
    .map(([name, value]) => `<input type="hidden" name="${name}" value="${escaped(value)}">`)
    .join("");

const buttons = (allow: string) =>
  `<p><button name="decision" value="allow">${allow}</button> <button name="decision" value="deny">Deny</button></p>`;

/** Asks for the code that the device shows. @param fault a sentence about the one before */
export function codePage(fault?: string): Response {
  const told = fault === undefined ? "" : `<p role="alert">${escaped(fault)}</p>`;
  const input = `<label>Code <input name="user_code" autocomplete="off" autocapitalize="characters" maxlength="20" required autofocus></label>`;
  const form = `<form method="get" action="/device">${input} <button>Continue</button></form>`;
  return page(
    "Connect a device",
    `${told}<p>Type the code that the device or the terminal shows.</p>${form}`,
    fault === undefined ? 200 : 400,
  );
}

/** Shows what asks, before the person lets it in. @param person name of who is signed in */
export function devicePage(
  { userCode, client, scope, address, created }: Device,
  person: string,
  token: string,
  now: number,
): Response {
  const code = `${userCode.slice(0, 4)}-${userCode.slice(4)}`;
  const minutes = Math.max(0, Math.round((now - created) / 60_000));
  const rows = [
    row("Code", `<strong>${code}</strong>`),
    row("Program", escaped(client)),
    row("Asked from", `${escaped(address)}, ${minutes === 0 ? "just now" : `${minutes} min ago`}`),
    row("For", escaped(scope)),
    row("You are", escaped(person)),
  ];
  const warning = `<p>Go on only if you started this yourself, and the device shows the same code. No colleague will ask you to type a code.</p>`;
  const form = `<form method="post" action="/device">${hidden({ user_code: userCode, token })}${buttons("Connect")}</form>`;
  return page("Connect a device", `<table>${rows.join("")}</table>${warning}${form}`);
}

/** Shows what a program asks for. @param redirect where the browser goes then */
export function consentPage(
  program: Program,
  scope: string,
  redirect: URL,
  person: string,
  fields: Fields,
): Response {
  const rows = [
    row("Program", `<strong>${escaped(program.name)}</strong>`),
    row("Described at", program.host === undefined ? "nowhere: it registered itself" : escaped(program.host)),
    row("Goes back to", escaped(redirect.host || redirect.protocol)),
    row("For", escaped(scope)),
    row("You are", escaped(person)),
  ];
  const warning =
    program.host === undefined || isLocal(program)
      ? "<p>Any program on your machine can use this name. Go on only if you started it yourself.</p>"
      : "";
  const form = `<form method="post" action="/oauth/authorize">${hidden(fields)}${buttons("Allow")}</form>`;
  const answer = page(`Let ${program.name} use weir`, `<table>${rows.join("")}</table>${warning}${form}`);
  // Browsers apply the rule for forms to where the answer leads, too.
  const target = redirect.protocol.startsWith("http") ? redirect.origin : redirect.protocol;
  const policy = HEADERS["content-security-policy"].replace(
    "form-action 'self'",
    `form-action 'self' ${target}`,
  );
  answer.headers.set("content-security-policy", policy);
  return answer;
}

export function donePage(isAllowed: boolean): Response {
  return isAllowed
    ? page("Connected", "<p>Return to your device: it goes on by itself.</p>")
    : page("Denied", "<p>The device was not let in. You can close this page.</p>");
}

/** @param sentence what is wrong, for the person */
export function faultPage(sentence: string, status = 400): Response {
  return page("This does not work", `<p role="alert">${escaped(sentence)}</p>`, status);
}
