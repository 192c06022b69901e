/** A client in front of a gateway that runs already. */
import { isObject, parseJson } from "../../core/json.ts";
import { HttpApi } from "../../cli/books/api.ts";
import { ANY_KEY, nameOf, pointClient } from "../../cli/clients/index.ts";
import type { Context } from "../../cli/command.ts";
import { describeClient, describeModel, describeSilence } from "./lines.ts";
import type { AdminAccess } from "../../run/run-file.ts";
import { runClient } from "../../cli/run-client.ts";
import type { RunningClient } from "../../cli/serve.ts";

/** A key that was not revoked, because weir was killed, ends after this time. Milliseconds. */
const KEY_MS = 24 * 3600_000;
/** How often weir moves the end of the key. Milliseconds. */
const RENEW_MS = 3600_000;
/** Maximum time for an answer of the gateway to weir itself. Milliseconds. */
const ANSWER_MS = 10_000;

const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

export interface RunningGateway {
  url: string;
  /** The admin API, if this user runs the gateway. */
  admin?: AdminAccess;
}

/** @returns the exit code of the client @throws Error with one sentence */
export async function runWith(
  { url, admin }: RunningGateway,
  context: Context,
  model: string | true | undefined,
): Promise<number> {
  const { rest = [], env, printError } = context;
  const wanted = typeof model === "string" ? model : undefined;
  let client: RunningClient | undefined;
  let stopped = false;
  // A key that was made is revoked whatever ends the client.
  for (const name of SIGNALS)
    process.on(name, () => {
      stopped = true;
      client?.signal(name);
    });
  const key = await findKey(url, admin, env["WEIR_API_KEY"] || undefined, rest);
  try {
    if (wanted !== undefined) await assertServed(url, key.text, wanted);
    const pointed = pointClient(rest, { url, key: key.text, model: wanted }, env);
    printError(
      `weir: ${describeClient(rest, pointed.client)} asks the gateway on ${url}, which runs already; ${describeModel(wanted)}`,
    );
    for (const name of wanted === undefined
      ? []
      : await unserved(url, key.text, pointed.client?.asksAlso ?? []))
      printError(
        `weir: it also asks for ${name}, which that gateway does not serve; an alias in its config answers it: aliases: {"${name}": "${wanted}"}`,
      );
    if (stopped) {
      pointed.cleanup();
      return 1;
    }
    const from = Date.now();
    client = runClient(pointed, context);
    const code = await client.exited;
    const name = describeClient(rest, pointed.client);
    const silence = describeSilence(name, code, url);
    if (silence !== undefined && admin && (await isSilent(admin, from, key.name))) printError(silence);
    return code;
  } finally {
    await key.end();
  }
}

/** A record is written a moment after the call has ended. Milliseconds. */
const RECORD_MS = 1_000;

/** Whether there is no call since a time, of a key if it is known whose key it is. */
async function isSilent(
  { url, credential }: AdminAccess,
  from: number,
  key: string | undefined,
): Promise<boolean> {
  const api = new HttpApi(url, credential);
  const query = { from, limit: 1, key };
  for (const pause of [0, RECORD_MS]) {
    await Bun.sleep(pause);
    const page = await api.ask("GET /calls", { query }).catch(() => undefined);
    if (page === undefined || page.calls.length > 0) return false;
  }
  return true;
}

interface ClientKey {
  text: string;
  /** Of a key that weir made. */
  name?: string;
  /** Revokes a key that weir made. */
  end(): Promise<void>;
}

/** @throws Error if the gateway does not answer, refuses the key, or wants one and weir cannot make it */
async function findKey(
  url: string,
  admin: AdminAccess | undefined,
  given: string | undefined,
  command: readonly string[],
): Promise<ClientKey> {
  const { status } = await ask(url, "/v1/models", given);
  const text = given ?? ANY_KEY;
  if (status !== 401) return { text, end: async () => {} };
  if (given !== undefined)
    throw new Error(`the gateway on ${url} refuses the key in WEIR_API_KEY; set it to a key of that gateway`);
  if (admin === undefined)
    throw new Error(
      `the gateway on ${url} wants a key; set WEIR_API_KEY to one (weir keys create NAME, where it runs)`,
    );
  return makeKey(new HttpApi(admin.url, admin.credential), command);
}

async function makeKey(api: HttpApi, command: readonly string[]): Promise<ClientKey> {
  const expiresAt = () => Date.now() + KEY_MS;
  const program = nameOf(command[0]!)
    .replace(/[^\w.-]/g, "_")
    .slice(0, 40);
  const name = `exec-${program}-${randomName()}`;
  const { key, secret } = await api.ask("POST /keys", {
    body: { name, expiresAt: expiresAt() },
  });
  const params = { id: key.id };
  const renewal = setInterval(
    // After a failure the next one comes in time.
    () => void api.ask("PATCH /keys/{id}", { params, body: { expiresAt: expiresAt() } }).catch(() => {}),
    RENEW_MS,
  );
  return {
    ...{ text: secret, name },
    async end() {
      clearInterval(renewal);
      // The gateway may have ended; the key then ends by its time.
      await api.ask("DELETE /keys/{id}", { params }).catch(() => {});
    },
  };
}

function randomName(): string {
  return crypto.randomUUID().slice(0, 8);
}

/** @throws Error if the gateway says that it does not serve the model */
async function assertServed(url: string, key: string, model: string): Promise<void> {
  if (await isServed(url, key, model)) return;
  throw new Error(
    `the gateway on ${url} does not serve ${model}; GET ${url}/v1/models lists its models, and --port 0 starts a gateway for this command`,
  );
}

/** The names that no provider of the gateway serves. */
async function unserved(url: string, key: string, names: readonly string[]): Promise<string[]> {
  const served = await Promise.all(names.map((name) => isServed(url, key, name)));
  return names.filter((_, index) => !served[index]);
}

async function isServed(url: string, key: string, model: string): Promise<boolean> {
  const { status, text } = await ask(url, `/v1/models/${encodeURIComponent(model)}`, key);
  const body = status === 404 ? parseJson(text) : undefined;
  return !(isObject(body) && isObject(body["error"]) && body["error"]["code"] === "model_not_found");
}

/** @throws Error if the gateway does not answer */
async function ask(
  url: string,
  path: string,
  key: string | undefined,
): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}${path}`, {
    headers: { connection: "close", ...(key !== undefined && { authorization: `Bearer ${key}` }) },
    signal: AbortSignal.timeout(ANSWER_MS),
  }).catch(() => {
    throw new Error(
      `no gateway answers on ${url}; name another one with --url, or start one for this command with --port 0`,
    );
  });
  return { status: response.status, text: await response.text() };
}
