/** `weir login`, `weir token` and `weir logout` as processes, at a gateway in front of a provider. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { environmentIn } from "../../../../test/helpers/environment.ts";
import { type Serving, until } from "../../../../test/helpers/serving.ts";
import { callWith, press, signedIn, type SigningGateway, startSigning } from "./support/signing-gateway.ts";

setDefaultTimeout(120_000);

const MAIN = resolve(import.meta.dir, "../../../main.ts");

let world: SigningGateway;
let gateway: Serving;
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "weir-login-"));
  world = await startSigning();
  ({ gateway } = world);
});

afterAll(async () => {
  await world?.stop();
  await rm(folder, { recursive: true, force: true });
});

function start(...args: string[]) {
  const child = Bun.spawn([process.execPath, MAIN, ...args], {
    env: environmentIn(folder, { XDG_CONFIG_HOME: folder }),
    ...{ stdin: "ignore", stdout: "pipe", stderr: "pipe" },
  });
  let out = "";
  const reading = (async () => {
    for await (const piece of child.stdout) out += new TextDecoder().decode(piece);
  })();
  const ended = Promise.all([child.exited, new Response(child.stderr).text(), reading]).then(
    ([code, err]) => ({ code, out: out.trim(), err: err.trim() }),
  );
  return { ended, text: () => out };
}

const run = (...args: string[]) => start(...args).ended;

async function decide(text: () => string, decision: string): Promise<void> {
  const page = () => /Open (\S+)/.exec(text())?.[1];
  expect(await until(async () => page() !== undefined)).toBe(true);
  await press(await signedIn(world), page()!.slice(world.admin.length), decision);
}

const ask = (token: string) => callWith(world, token);

const FILE = () => join(folder, "weir/logins.json");

test("login, tokens for programs, the next one when it ends, and logout", async () => {
  const nobody = await run("token", gateway.url);
  expect([nobody.code, nobody.err]).toEqual([
    1,
    expect.stringContaining(`you are not signed in at ${gateway.url}; sign in with: weir login`),
  ]);
  const signing = start("login", gateway.url);
  await decide(signing.text, "allow");
  const { code, out, err } = await signing.ended;
  expect([code, err]).toEqual([0, ""]);
  expect(out).toContain(`signed in at ${gateway.url} as alice@corp.example`);
  expect([(await stat(FILE())).mode & 0o777, (await stat(join(folder, "weir"))).mode & 0o777]).toEqual([
    ...[0o600, 0o700],
  ]);
  const first = await run("token");
  expect([first.code, first.err, await ask(first.out)]).toEqual([0, "", 200]);
  expect((await run("token", `${gateway.url}/`)).out).toBe(first.out);
  const logins = JSON.parse(await readFile(FILE(), "utf8"));
  logins[gateway.url].until = Date.now();
  await writeFile(FILE(), JSON.stringify(logins));
  // Several programs ask at once: none of them signs the others out.
  const fresh = await Promise.all([1, 2, 3, 4].map(() => run("token", gateway.url)));
  for (const { code, out } of fresh) expect([code, await ask(out)]).toEqual([0, 200]);
  expect(fresh[0]!.out).not.toBe(first.out);
  const shape = JSON.parse((await run("token", "--json")).out);
  expect([shape.token_type, shape.expires_in > 3_500]).toEqual(["Bearer", true]);
  const outside = await run("logout", gateway.url);
  expect([outside.code, outside.out]).toEqual([0, `signed out at ${gateway.url}`]);
  expect(await ask(fresh[0]!.out)).toBe(401);
  expect((await run("token")).code).toBe(2);
});

test("a person who denies, a gateway without sign-in and a wrong address end with a sentence", async () => {
  const signing = start("login", gateway.url);
  await decide(signing.text, "deny");
  const { code, err } = await signing.ended;
  expect([code, err]).toEqual([1, `weir: ${gateway.url} gives no token: The person has refused`]);
  const other = await run("login", world.upstream.url);
  expect([other.code, /lets no program sign in/.test(other.err)]).toEqual([1, true]);
  expect((await run("login", "http://weir.corp.example")).code).toBe(2);
  expect((await run("logout", gateway.url)).code).toBe(1);
});
