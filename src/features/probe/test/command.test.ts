/** `weir probe` as a user runs it: what it prints where, what it sends, and what it does with a block. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../../../../test/helpers/command.ts";
import { type FakeHost, startHost } from "./host.ts";

setDefaultTimeout(120_000);

const KEY = "test-key-91f3c0";
let folder: string;
let host: FakeHost;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-probe-"));
  host = startHost({ key: KEY, images: "ignored", n: "refused" });
});

afterAll(async () => {
  await host.stop();
  rmSync(folder, { recursive: true, force: true });
});

const probe = (args: readonly string[], env: Record<string, string> = { ACME_KEY: KEY }) => {
  host.clear();
  return runCommand(["probe", ...args], { cwd: folder, env });
};
const withKey = () => [host.url, "--api-key-env", "ACME_KEY"];

test("the block goes to the output and the rest to the errors, without the key", async () => {
  const { code, out, err } = await probe(withKey());
  expect(code).toBe(0);
  const { providers } = Bun.YAML.parse(out) as { providers: Record<string, object> };
  expect(providers).toEqual({
    "my-host": {
      baseUrl: host.url,
      speaks: "chat-completions",
      apiKey: "${ACME_KEY}",
      traits: { images: false, maxStop: 16, n: false },
    },
  });
  expect(out).toContain('images: false # ignored: answered "I see no image."');
  expect(err).toContain("images");
  expect(out + err).not.toContain(KEY);
});

test("no more calls are sent than the first line says", async () => {
  const { err } = await probe(withKey());
  const most = Number(/at most (\d+) calls/.exec(err)?.[1]);
  const sent = Number(/^(\d+) calls\.$/m.exec(err)?.[1]);
  expect(err.indexOf("at most")).toBeLessThan(err.indexOf("models "));
  expect(host.seen.length).toBe(sent);
  expect(sent).toBeLessThanOrEqual(most);
  expect(sent).toBeGreaterThan(20);
});

test("--dry-run sends nothing and lists the questions", async () => {
  const { code, err } = await probe([...withKey(), "--dry-run"]);
  expect(code).toBe(0);
  expect(host.seen).toEqual([]);
  expect(err).toContain("`tool_choice: required`");
});

test("the cost is bounded where the price is known", async () => {
  const env = { OPENAI_API_KEY: KEY };
  const { err } = await probe(["openai", "--model", "gpt-4o-mini", "--dry-run"], env);
  expect(err).toMatch(/output tokens; \$0\.\d+ at most/);
});

test("--json prints findings, settings and the block", async () => {
  const { out } = await probe([...withKey(), "--json", "--model", "chat-2"]);
  const { model, calls, findings, settings, block } = JSON.parse(out);
  expect(model).toBe("chat-2");
  expect(calls).toBe(host.seen.length);
  expect(findings.images).toEqual({ verdict: "ignored", evidence: 'answered "I see no image."' });
  expect(settings.traits.map(({ name }: { name: string }) => name)).toEqual(["images", "maxStop", "n"]);
  expect(block).toContain("providers:");
});

test("--out writes a file that weir reads as its config, and replaces none", async () => {
  const file = join(folder, "acme.yaml");
  expect((await probe([...withKey(), "--out", "acme.yaml"])).code).toBe(0);
  const { code, out } = await runCommand(["models", "my-host/chat-1", "--config", file], {
    cwd: folder,
    env: { ACME_KEY: KEY },
  });
  expect(code).toBe(0);
  expect(out).toContain(host.url);
  const before = readFileSync(file, "utf8");
  const again = await probe([...withKey(), "--out", "acme.yaml"]);
  expect(again.code).toBe(1);
  expect(again.err).toContain("acme.yaml already exists; weir asked nothing.");
  expect(host.seen).toEqual([]);
  expect(readFileSync(file, "utf8")).toBe(before);
});

test("a known provider is asked with its own address, key and headers, and gets traits for the model", async () => {
  writeFileSync(
    join(folder, "weir.yaml"),
    JSON.stringify({ providers: { groq: { baseUrl: host.url, apiKey: KEY, headers: { "x-team": "a" } } } }),
  );
  try {
    const { code, out } = await probe(["groq", "--model", "chat-1"], {});
    expect(code).toBe(0);
    expect(Bun.YAML.parse(out)).toEqual({
      providers: {
        groq: {
          baseUrl: host.url,
          modelTraits: [{ models: ["chat-1"], traits: { images: false, maxStop: 16, n: false } }],
        },
      },
    });
    expect(host.seen.every(({ headers }) => headers["x-team"] === "a")).toBe(true);
  } finally {
    rmSync(join(folder, "weir.yaml"));
  }
});

test("a wrong key ends the probe after two calls, with the words of the host", async () => {
  const { code, out, err } = await probe([...withKey(), "--model", "chat-1"], { ACME_KEY: "other-key-1" });
  expect([code, out, host.seen.length]).toEqual([1, "", 2]);
  expect(err).toContain("does not answer a simple question to chat-1: 401: Incorrect API key provided.");
});

test("a dead address is said to be unreachable", async () => {
  const dead = startHost();
  await dead.stop();
  for (const model of [[], ["--model", "chat-1"]]) {
    const { code, err } = await probe([dead.url, ...model]);
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(
        /\nweir: http:\/\/127\.0\.0\.1:\d+\/v1 is unreachable: it refused the connection; check the address, and that the server runs\.\n$/,
      ),
    ]);
  }
});

test("the block of a server that a variable names has its address", async () => {
  const single = startHost({ listed: ["chat-1"] });
  const { code, out, err } = await probe(["llamacpp"], { LLAMACPP_BASE_URL: single.url });
  await single.stop();
  expect(code).toBe(0);
  expect(Bun.YAML.parse(out)).toMatchObject({ providers: { llamacpp: { baseUrl: single.url } } });
  expect(err).toMatch(/^models\s+yes\s+lists 1 model$/m);
});

test("a host without a model for text says what it lists", async () => {
  const embedder = startHost({ listed: ["some-embed", "whisper-1"] });
  const { code, err } = await probe([embedder.url]);
  await embedder.stop();
  expect(code).toBe(1);
  expect(err).toContain("it lists some-embed, whisper-1); name one with --model.");
});

const WRONG: readonly [args: string[], code: number, words: string][] = [
  [[], 2, "weir probe requires HOST"],
  [["opnai"], 2, "no provider is named opnai"],
  [["ftp://host/v1"], 2, "HOST must begin with http:// or https://"],
  [["http://127.0.0.1:1/v1", "--api-key-env", "NOT_SET"], 2, "NOT_SET is not set"],
  [["openai", "--api-key-env", "ACME_KEY"], 2, "--api-key-env is for"],
  [["groq"], 1, "the provider groq is off"],
  [["mock"], 1, "does not speak chat-completions"],
  [["http://127.0.0.1:1/v1", "--model", "x"], 1, "refused the connection"],
];

for (const [args, wanted, words] of WRONG)
  test(`a fault is explained: ${args.join(" ") || "no argument"}`, async () => {
    const { code, err, out } = await probe(args);
    expect(code).toBe(wanted);
    expect(err).toContain(words);
    expect(out).toBe("");
  });

test("a probe that is stopped writes no file", async () => {
  const silent = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Promise<Response>(() => {}) });
  const { PROGRAM } = await import("../../../../test/helpers/command.ts");
  const { environmentIn } = await import("../../../../test/helpers/environment.ts");
  const url = `http://127.0.0.1:${silent.port}/v1`;
  const child = Bun.spawn([...PROGRAM, "probe", url, "--out", "stopped.yaml"], {
    cwd: folder,
    env: environmentIn(folder, {}),
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const reader = child.stderr.getReader();
  await reader.read();
  child.kill("SIGINT");
  expect(await child.exited).not.toBe(0);
  expect(existsSync(join(folder, "stopped.yaml"))).toBe(false);
  await silent.stop(true);
}, 30_000);
