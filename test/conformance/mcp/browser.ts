/** The browser of a caller who connects an account: it opens a link of weir, says yes, and follows where it is sent. */

/** Redirects before it gives up. */
const MOST = 10;

/** @returns what weir said in the end @throws Error where the way is not as expected */
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

const unescaped = (text: string) =>
  text.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code))).replaceAll("&amp;", "&");

const textOf = (page: string) =>
  page
    .replace(/<style.*?<\/style>/gs, " ")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();
