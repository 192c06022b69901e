/** `weir check` and `weir models` for providers with variables, several credentials and requests that a plugin authorizes. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../helpers/command.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";
import { signatureFault } from "../helpers/verify-sig-v4.ts";

// Each command is a process of its own.
setDefaultTimeout(120_000);

const ID = "AKIDCHECK0000001";
const SECRET = "check-canary/0123456789abcdefghijklmnopq";

let folder: string;
let upstream: Upstream;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-credentials-"));
  cpSync(join(import.meta.dir, "../wire/plugins"), join(folder, "plugins"), { recursive: true });
  upstream = startUpstream((request) => {
    const fault = signatureFault(request, { [ID]: SECRET });
    return fault === undefined
      ? json({ type: "error", error: { message: "bad" } }, 400)
      : json({ fault }, 403);
  });
});

afterAll(() => {
  upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Report {
  providers: { name: string; verdict: string }[];
  off: { name: string; reason: string }[];
  faults: string[];
}

async function check(env: Record<string, string>): Promise<Report> {
  const { out, err } = await runCommand(["check", "--json"], { cwd: folder, env });
  expect(out + err).not.toContain(SECRET);
  return JSON.parse(out) as Report;
}

test("a provider that is off says which variables and credentials are missing", async () => {
  const { off } = await check({ SIGNING_ACCESS_KEY_ID: ID, TOKEN_CLIENT_SECRET: "0123456789" });
  const reasonOf = (name: string) => off.find((each) => each.name === name)?.reason;
  expect(reasonOf("signing")).toBe(
    "set SIGNING_REGION to the region, such as us-east-1; set SIGNING_SECRET_ACCESS_KEY",
  );
  expect(reasonOf("token")).toBe("set TOKEN_PROJECT to the id of the project");
  const { err } = await runCommand(["models", "signing/x"], {
    cwd: folder,
    env: { AWS_REGION: "eu-1", OPENAI_API_KEY: "k-0123456789" },
  });
  expect(err).toContain("which is off: set SIGNING_ACCESS_KEY_ID and SIGNING_SECRET_ACCESS_KEY");
});

test("the probe is authorized as calls are, and a refusal names the credentials", async () => {
  const env = { AWS_REGION: "eu-1", SIGNING_BASE_URL: upstream.url, SIGNING_ACCESS_KEY_ID: ID };
  const good = await check({ ...env, SIGNING_SECRET_ACCESS_KEY: SECRET });
  expect(good.providers.find(({ name }) => name === "signing")?.verdict).toBe("reachable");
  expect(upstream.requests.at(-1)!.path).toBe("/model/weir-check/invoke");
  const wrong = await check({ ...env, SIGNING_SECRET_ACCESS_KEY: "wrong" });
  expect(wrong.faults[0]).toContain(
    "refuses its credentials SIGNING_ACCESS_KEY_ID and SIGNING_SECRET_ACCESS_KEY (status 403)",
  );
});

test("a token endpoint that fails is a fault of the check, and the command ends at once", async () => {
  const login = startUpstream(json({ error: "no" }, 500));
  const env = { TOKEN_PROJECT: "p", TOKEN_CLIENT_SECRET: SECRET, TOKEN_BASE_URL: upstream.url };
  await Bun.write(
    join(folder, "weir.yaml"),
    JSON.stringify({ providers: { token: { variables: { tokenUrl: login.url } } } }),
  );
  const { faults } = await check(env);
  expect(faults[0]).toContain("check its credentials and its token endpoint");
  login.stop();
});
