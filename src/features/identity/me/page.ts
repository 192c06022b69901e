/** The page of a person about itself: HTML and forms, no script. */
import type { AskedPage } from "../../../admin/own-pages.ts";
import { formatNano } from "../../../ledger/money.ts";
import { AdminError } from "../../../operator/errors.ts";
import { escaped, HEADERS, page, POLICY } from "../../../core/page.ts";
import type { SeenSession, Session } from "../sign-in/session-book.ts";
import type { Mine } from "./me.ts";
import type { Made, Owner } from "./own-keys.ts";
import type { OwnBudget, OwnRate, OwnReport } from "./report.ts";

export const ME = "/console/me";
const FORM = /^\/console\/me\/(keys|sessions)(?:\/([\w-]{1,40})\/(rotate|delete|end))?$/;
const MOST_FORM = 4_096;
const DAY_MS = 86_400_000;

export interface MeHow {
  /** Of the pages of weir: forms of others are refused. */
  readonly origin: string;
  /** Where the provider of the person ends its own session; undefined: it does not. */
  readonly endSession: string | undefined;
}

export async function meAnswer(
  request: Request,
  asked: AskedPage,
  { me, session, secret }: Mine,
  { origin, endSession }: MeHow,
): Promise<Response> {
  const owner = me.ownerOf(session, asked.address);
  const { pathname } = asked.url;
  if (request.method === "GET" && pathname === ME)
    return show(asked, { me, session, secret }, owner, endSession);
  if (request.method !== "POST" || !FORM.test(pathname)) return page("There is no such page", back(), 404);
  // `SameSite` keeps the cookie back from forms of other sites, and a browser names the origin of each.
  if (request.headers.get("origin") !== origin) return page("This form is of another page", back(), 403);
  try {
    const made = await act(request, asked, { me, session, secret }, owner);
    return made ? madePage(made) : new Response(null, { status: 303, headers: { ...HEADERS, location: ME } });
  } catch (cause) {
    if (!(cause instanceof AdminError)) throw cause;
    return page("That was not possible", `<p>${escaped(cause.message)}</p>${back()}`, cause.status);
  }
}

const back = () => `<p><a href="${ME}">Back</a></p>`;

/** @returns a key that was made @throws AdminError */
async function act(
  request: Request,
  { url, books }: AskedPage,
  { me }: Mine,
  owner: Owner,
): Promise<Made | undefined> {
  const [, what, id = "", action] = FORM.exec(url.pathname)!;
  const form = new URLSearchParams((await request.text()).slice(0, MOST_FORM));
  if (what === "keys" && action === undefined) return me.create(books, owner, form.get("name") ?? "");
  if (what === "keys" && action === "rotate")
    return me.rotate(books, owner, id, form.get("grace") === "day" ? DAY_MS : 0);
  if (what === "keys" && action === "delete") await me.revoke(books, owner, id);
  if (what === "sessions" && action === "end") await me.endSession(owner, id);
  return undefined;
}

/** The only time that weir shows the key. */
function madePage({ key, secret }: Made): Response {
  const ends = key.expiresAt === undefined ? "" : `<p>It works until ${timeOf(key.expiresAt)}.</p>`;
  const body = `<p>weir shows it once and keeps only its digest. Copy it now.</p><pre>${escaped(secret)}</pre>${ends}${back()}`;
  return page(`Your key ${key.name}`, body);
}

async function show(
  { books }: AskedPage,
  { me, session, secret }: Mine,
  owner: Owner,
  endSession: string | undefined,
): Promise<Response> {
  const [report, sessions, gateway] = await Promise.all([
    me.report(books, owner),
    me.sessions(books, owner, secret),
    books.gateway.reach(),
  ]);
  const address = gateway?.url ?? "http://127.0.0.1:9347";
  const everywhere = `<button name="everywhere" value="1">Sign out at ${escaped(session.provider)} too</button>`;
  // Browsers apply form-action to where the answer of a form sends them.
  const policy =
    endSession && POLICY.replace("form-action 'self'", `form-action 'self' ${new URL(endSession).origin}`);
  return page(
    "Your access",
    [
      whoTable(session, report),
      `<p><a href="/console">Console</a></p>`,
      keyPart(report),
      limitPart(report),
      setUpPart(address),
      callPart(report),
      sessionPart(sessions),
      changePart(report),
      `<form method="post" action="/auth/logout"><button>Sign out</button> ${endSession === undefined ? "" : everywhere}</form>`,
    ].join(""),
    200,
    policy ? { "content-security-policy": policy } : {},
  );
}

function whoTable({ name, person, path, provider, until, grants }: Session, report: OwnReport): string {
  const roles = grants.map(
    ({ role, on, source }) => `${role} on <code>${escaped(on)}</code> <small>${escaped(source)}</small>`,
  );
  const rows = [
    ["Person", `${escaped(name)} <small>${escaped(person)}</small>`],
    ["Signed in by", `${escaped(provider)}, until ${timeOf(until)}`],
    ["Calls are booked at", `<code>${escaped(path)}</code>`],
    ["Roles", roles.join("<br>") || "none"],
    ["This month", `${report.calls} calls, ${formatNano(report.cost)}`],
  ];
  const body = rows.map(([label, text]) => `<tr><th scope="row">${label}</th><td>${text}</td></tr>`);
  return `<table>${body.join("")}</table>`;
}

function keyPart({ keys, policy }: OwnReport): string {
  const rows = keys.map(({ id, name, hint = "", expiresAt, calls, cost }) => [
    `${escaped(name)} <small>${escaped(hint)}</small>`,
    expiresAt === undefined ? "no end" : `until ${timeOf(expiresAt)}`,
    `${calls} calls, ${formatNano(cost)}`,
    rotateForm(id) + button(`keys/${id}/delete`, "Delete", `Delete the key ${name}`),
  ]);
  const make = policy
    ? `<form method="post" action="${ME}/keys"><label>Name <input name="name" required maxlength="57" autocomplete="off"></label> <button>Make a key</button> <small>at most ${policy.most}</small></form>`
    : "<p>You may not make keys.</p>";
  return `<h2>Keys</h2>${tableOf(["Key", "Works", "This month", ""], rows)}${make}`;
}

function rotateForm(id: string): string {
  return `<form method="post" action="${ME}/keys/${escaped(id)}/rotate"><label>the old one works <select name="grace"><option value="day">a day</option><option value="">no more</option></select></label> <button>New text</button></form>`;
}

function button(path: string, label: string, title: string): string {
  return `<form method="post" action="${ME}/${escaped(path)}"><button aria-label="${escaped(title)}">${label}</button></form>`;
}

function limitPart({ budgets, rates }: OwnReport): string {
  const rows = [...budgets.map(budgetRow), ...rates.map(rateRow)];
  if (rows.length === 0) return "<h2>Limits</h2><p>No budget and no rate limit counts your calls.</p>";
  return `<h2>Limits</h2>${tableOf(["Limit", "Counts", "Left"], rows)}`;
}

function budgetRow({ name, why, limit, left, window, resetsAt }: OwnBudget): string[] {
  const reset = resetsAt === undefined ? "" : `, until ${timeOf(resetsAt)}`;
  return [
    escaped(name),
    escaped(why),
    `${formatNano(left)} of ${formatNano(limit)} a ${escaped(window)}${reset}`,
  ];
}

function rateRow({ name, why, limit, left }: OwnRate): string[] {
  const parts = Object.entries(limit).map(([unit, most]) => `${left[unit] ?? most} of ${most} ${unit}`);
  return [escaped(name), escaped(why), escaped(parts.join(", "))];
}

function setUpPart(gateway: string): string {
  const base = escaped(gateway);
  return `<h2>Set up</h2><p>Where a program asks for a key, give it one of yours, or a token of your provider for this gateway.</p><pre>export OPENAI_BASE_URL=${base}/v1
export ANTHROPIC_BASE_URL=${base}</pre>`;
}

function callPart({ lastCalls, models }: OwnReport): string {
  const rows = lastCalls.map(({ at, model, status, cost, key = "token" }) => [
    timeOf(at),
    escaped(model),
    String(status),
    formatNano(cost),
    escaped(key),
  ]);
  const calls =
    rows.length === 0 ? "<p>none yet</p>" : tableOf(["Time", "Model", "Status", "Cost", "By"], rows);
  const names = models.map((id) => `<code>${escaped(id)}</code>`).join(" ");
  return `<h2>Last calls</h2>${calls}<details><summary>Models</summary><p>${names || "none"}</p></details>`;
}

function sessionPart(sessions: readonly SeenSession[]): string {
  const rows = sessions.map(({ id, provider, createdAt, until, address, isOwn }) => [
    `${timeOf(createdAt)} by ${escaped(provider)} from ${escaped(address)}`,
    `until ${timeOf(until)}`,
    isOwn ? "this one" : button(`sessions/${id}/end`, "End", `End the session of ${timeOf(createdAt)}`),
  ]);
  return `<h2>Sessions</h2>${tableOf(["Begun", "Ends", ""], rows)}`;
}

function changePart({ changes }: OwnReport): string {
  const rows = changes.map(({ at, action, subject }) => [timeOf(at), escaped(action), escaped(subject)]);
  return `<h2>Last changes</h2>${tableOf(["Time", "What", "Of"], rows)}`;
}

/** @param rows HTML */
function tableOf(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const head = heads.map((text) => `<th scope="col">${text}</th>`).join("");
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`).join("");
  return `<table><tr>${head}</tr>${body}</table>`;
}

const timeOf = (ms: number) => `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`;
