/** `weir token`: prints a token of weir, of who is signed in, or for the token of this job or workload. */
import { isObject, parseJson } from "../../core/json.ts";
import { textOf } from "../../cli/books/values.ts";
import { type Context, UsageError } from "../../cli/command.ts";
import { fetchDocument, placeOf } from "./fetch-document.ts";
import { gatewayUrl, onlyLogin, tokenOfLogin } from "./login/login-cli.ts";
import { durationMs } from "./section.ts";

const GRANT = "urn:ietf:params:oauth:grant-type:token-exchange";
const JWT = "urn:ietf:params:oauth:token-type:jwt";

/** @returns the exit code */
export async function run(context: Context): Promise<number> {
  const { words, flags, env, print } = context;
  const url = words[0] === undefined ? await onlyLogin(env) : gatewayUrl(words[0]);
  if (!hasSubject(context)) {
    for (const name of ["--scope", "--expires", "--audience"])
      if (flags[name] !== undefined)
        throw new UsageError(`token takes ${name} only with the token of a job or workload`);
    const { accessToken: access_token, until } = await tokenOfLogin(url, env);
    const expires_in = Math.floor((until - Date.now()) / 1_000);
    print(
      flags["--json"]
        ? JSON.stringify({ access_token, token_type: "Bearer", expires_in }, null, 2)
        : access_token,
    );
    return 0;
  }
  const [scope, expires] = [textOf(flags, "--scope"), textOf(flags, "--expires")];
  const form = new URLSearchParams({
    ...{ grant_type: GRANT, subject_token_type: JWT, subject_token: await subjectToken(context) },
    ...(scope !== undefined && { scope }),
    ...(expires !== undefined && { expires_in: secondsOf(expires) }),
  });
  const answer = await fetchDocument(`${url}/oauth/token`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
    body: form.toString(),
  });
  const body = parseJson(answer.text);
  const said = isObject(body) ? body : {};
  if (answer.status !== 200 || typeof said["access_token"] !== "string") {
    const why =
      typeof said["error_description"] === "string"
        ? said["error_description"]
        : `it answers ${answer.status}`;
    throw new Error(`${placeOf(url)} gives no token: ${why.replace(/\.$/, "")}`);
  }
  print(flags["--json"] ? JSON.stringify(body, null, 2) : said["access_token"]);
  return 0;
}

/** Whether there is a token of a job or workload; else the person counts who is signed in. */
function hasSubject({ flags, env }: Context): boolean {
  const isNamed = flags["--file"] !== undefined || flags["--variable"] !== undefined;
  return isNamed || env["GITHUB_ACTIONS"] === "true" || env["ACTIONS_ID_TOKEN_REQUEST_URL"] !== undefined;
}

/** The token of this job or workload. @throws Error with one sentence, UsageError */
async function subjectToken({ flags, env }: Context): Promise<string> {
  const file = textOf(flags, "--file");
  const variable = textOf(flags, "--variable");
  if (file !== undefined && variable !== undefined)
    throw new UsageError("token takes either --file or --variable");
  if (file !== undefined) return expectText(await readFile(file), `the file ${file}`);
  if (variable !== undefined) return expectText(env[variable] ?? "", `the variable ${variable}`);
  const { ACTIONS_ID_TOKEN_REQUEST_URL: address, ACTIONS_ID_TOKEN_REQUEST_TOKEN: bearer } = env;
  if (!address || !bearer)
    throw new UsageError("a job of GitHub Actions needs `permissions: id-token: write` for a token");
  const asked = new URL(address);
  asked.searchParams.set("audience", textOf(flags, "--audience") ?? "weir");
  const answer = await fetchDocument(asked.href, { headers: { authorization: `Bearer ${bearer}` } });
  const body = parseJson(answer.text);
  const value = isObject(body) ? body["value"] : undefined;
  if (answer.status === 200 && typeof value === "string") return value;
  throw new Error(`${placeOf(address)} gives no token of the job: it answers ${answer.status}`);
}

function expectText(text: string, what: string): string {
  if (text.trim() === "") throw new Error(`${what} has no token`);
  return text.trim();
}

async function readFile(path: string): Promise<string> {
  try {
    return await Bun.file(path).text();
  } catch {
    throw new Error(`the file ${path} cannot be read`);
  }
}

function secondsOf(text: string): string {
  if (/^[1-9]\d{0,5}[smhd]$/.test(text)) return String(durationMs(text) / 1_000);
  throw new UsageError(`a duration is written 15m or 1h; "${text}" is none`);
}
