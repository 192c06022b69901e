/** `weir login` and `weir logout`: sign in at a gateway as a person, in a browser, for programs of this machine. */
import { textOf } from "../../../cli/books/values.ts";
import { type Context, UsageError } from "../../../cli/command.ts";
import { printable } from "../../../core/printable.ts";
import { addressFault } from "../section.ts";
import { type Login, loginsFile, readLogins, writeLogin } from "./logins.ts";
import { type Answer, endpointsOf, loginOf, post, reasonOf } from "./token-requests.ts";

const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";
const CLIENT = "weir-cli";
/** RFC 8628 3.2 and 3.5. Seconds. */
const USUAL_INTERVAL = 5;
const MOST_SECONDS = 1_800;
/** A token is not given out when it ends sooner. Milliseconds. */
const LEAST_LEFT_MS = 60_000;

export const login = {
  async run({ words, flags, env, print }: Context): Promise<number> {
    const url = gatewayUrl(words[0] ?? "");
    const file = loginsFile(env);
    const endpoints = await endpointsOf(url);
    const scope = textOf(flags, "--scope");
    const asked = await post(endpoints.device, {
      client_id: CLIENT,
      ...(scope !== undefined && { scope }),
    });
    const { device_code: code, user_code: shown, expires_in: seconds, interval } = asked.body;
    const page = asked.body["verification_uri_complete"] ?? asked.body["verification_uri"];
    if (
      asked.status !== 200 ||
      typeof code !== "string" ||
      typeof page !== "string" ||
      typeof shown !== "string"
    )
      throw new Error(`${url} lets no program sign in: ${reasonOf(asked)}`);
    print(`Open ${printable(page)}\nand check that it shows the code ${printable(shown)}`);
    const answer = await decided(
      endpoints.token,
      code,
      numberOr(interval, USUAL_INTERVAL),
      numberOr(seconds, 600),
    );
    await writeLogin(file, url, loginOf(answer, url, Date.now()));
    const { email } = answer.body;
    const who = typeof email === "string" ? ` as ${printable(email)}` : "";
    print(`signed in at ${url}${who}; \`weir token ${url}\` prints a token`);
    return 0;
  },
};

export const logout = {
  async run({ words, env, print, printError }: Context): Promise<number> {
    const url = gatewayUrl(words[0] ?? "");
    const file = loginsFile(env);
    const known = (await readLogins(file)).get(url);
    if (!known) {
      printError(`weir: you are not signed in at ${url}`);
      return 1;
    }
    // The file comes first: what is in it is of no use any more, also when the gateway is away.
    await writeLogin(file, url, undefined);
    const { revoke } = await endpointsOf(url);
    await post(revoke, { token: known.refreshToken, token_type_hint: "refresh_token" });
    print(`signed out at ${url}`);
    return 0;
  },
};

/** A token of who is signed in at a gateway, a fresh one if the last one ends soon. @throws Error with one sentence */
export async function tokenOfLogin(url: string, env: Context["env"]): Promise<Login> {
  const file = loginsFile(env);
  const known = (await readLogins(file)).get(url);
  if (!known)
    throw new Error(
      `you are not signed in at ${url}; sign in with: weir login ${url}, or name the token of a job or workload by --file or --variable`,
    );
  if (known.until - Date.now() > LEAST_LEFT_MS) return known;
  const { token } = await endpointsOf(url);
  const form = { grant_type: "refresh_token", refresh_token: known.refreshToken, client_id: CLIENT };
  const answer = await post(token, form);
  if (answer.status === 401)
    throw new Error(`${reasonOf(answer).replace(/;.*/, "")}; sign in again with: weir login ${url}`);
  const next = loginOf(answer, url, Date.now());
  await writeLogin(file, url, next);
  return next;
}

/** The only gateway at which somebody is signed in. @throws UsageError */
export async function onlyLogin(env: Context["env"]): Promise<string> {
  const [only, second] = (await readLogins(loginsFile(env))).keys();
  if (only !== undefined && second === undefined) return only;
  throw new UsageError(
    only === undefined
      ? "you are not signed in; sign in with: weir login URL"
      : "token needs the address of the gateway: you are signed in at several",
  );
}

/** @throws UsageError */
export function gatewayUrl(text: string): string {
  const url = text.replace(/\/+$/, "");
  const fault = addressFault(url);
  if (fault !== undefined) throw new UsageError(`the address of the gateway ${fault}`);
  return url;
}

/** Asks until the person has decided. @throws Error with one sentence if it has not, or has refused */
async function decided(endpoint: string, code: string, interval: number, seconds: number): Promise<Answer> {
  const end = Date.now() + Math.min(seconds, MOST_SECONDS) * 1_000;
  let pause = interval;
  while (Date.now() < end) {
    await Bun.sleep(pause * 1_000);
    // A gateway that restarts is away for a moment.
    const answer = await post(endpoint, { grant_type: DEVICE_GRANT, device_code: code }).catch(
      () => undefined,
    );
    const error = answer?.body["error"];
    if (error === "slow_down") pause += USUAL_INTERVAL;
    const isOpen =
      error === "authorization_pending" || error === "slow_down" || (answer?.status ?? 503) >= 500;
    if (answer && !isOpen) return answer;
  }
  throw new Error("the code has expired; sign in again");
}

function numberOr(value: unknown, usual: number): number {
  return typeof value === "number" && value > 0 ? value : usual;
}
