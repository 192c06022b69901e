/** Browsers of people: one connects an account, the other signs in and permits what a program asks for. */

/** Redirects before it gives up. */
const MOST = 10;

/** Opens a link of weir, says yes, and follows where it is sent. @returns what weir said in the end @throws Error where the way is not as expected */
export async function connectAccount(link: string): Promise<string> {
  const { origin, pathname, searchParams } = new URL(link);
  const away = await fetch(origin + pathname, {
    method: "POST",
    body: new URLSearchParams({ t: searchParams.get("t") ?? "" }),
    headers: { origin },
  });
  const page = await away.text();
  const place = /<a class="go" href="([^"]*)"/.exec(page)?.[1];
  if (place === undefined) throw new Error(`${away.status}: ${textOf(page)}`);
  const cookie = away.headers
    .getSetCookie()
    .map((set) => set.split(";")[0]!)
    .join("; ");
  let at = unescaped(place);
  for (let step = 0; step < MOST; step++) {
    const isHome = at.startsWith(origin);
    const answer = await fetch(at, { redirect: "manual", headers: isHome ? { cookie } : {} });
    const next = answer.headers.get("location");
    if (isHome || next === null) return `${answer.status}: ${textOf(await answer.text())}`;
    at = new URL(next, at).href;
  }
  throw new Error(`more than ${MOST} redirects`);
}

/**
 * Goes where it is sent, with the cookies of each origin, and permits what a form asks.
 * @throws Error where that ends with an error, or not at all
 */
export async function permitAll(url: string): Promise<void> {
  const jars = new Map<string, Map<string, string>>();
  let at = url;
  let form: { readonly body: URLSearchParams } | undefined;
  for (let step = 0; step < MOST; step++) {
    const { origin } = new URL(at);
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { cookie, ...(form && { origin }) };
    const answer = await fetch(at, { ...(form && { method: "POST", ...form }), headers, redirect: "manual" });
    for (const set of answer.headers.getSetCookie()) keep(jar, set.split(";")[0]!);
    const page = await answer.text();
    const next = answer.headers.get("location") ?? /<form method="post" action="([^"]*)">/.exec(page)?.[1];
    if (next === undefined && !answer.ok) throw new Error(`${answer.status}: ${textOf(page)}`);
    if (next === undefined) return;
    form = answer.headers.has("location") ? undefined : { body: permitting(page) };
    at = new URL(unescaped(next), at).href;
  }
  throw new Error(`more than ${MOST} pages`);
}

function keep(jar: Map<string, string>, pair: string): void {
  const [name, value] = [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)];
  if (value === "") jar.delete(name);
  else jar.set(name, value);
}

/** The form of a page with its button. */
function permitting(page: string): URLSearchParams {
  const fields = page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g);
  const pairs = [...fields].map(([, name, value]) => [name!, unescaped(value!)]);
  return new URLSearchParams([...pairs, ["decision", "allow"]]);
}

const unescaped = (text: string) =>
  text.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code))).replaceAll("&amp;", "&");

const textOf = (page: string) =>
  page
    .replace(/<style.*?<\/style>/gs, " ")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();
