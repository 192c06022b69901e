/** The admin API shows all files of a config, and no secret of any. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ConfigSource, EffectiveConfig } from "../../src/operator/config.ts";
import { loadConfig, reloadConfig } from "../../src/config/load.ts";
import { startWeir } from "../../src/run/weir.ts";

const ADMIN = "weir-test-admin-key-0002";
const CALL = "weir-test-call-key-00002";
const UPSTREAM = "upstream-credential-0002";
const LATER = "weir-test-later-key-0002";

const folder = mkdtempSync(join(tmpdir(), "weir-included-"));
const place = (name: string) => join(folder, name);
writeFileSync(
  place("weir.yaml"),
  `include: ["c-*.yaml"]\naliases: {fast: mock/chat}\n# the key of bob was ${CALL}, and ${UPSTREAM}\n`,
);
writeFileSync(
  place("c-keys.yaml"),
  `keys:\n  - bob:${CALL}\nadminKeys:\n  - {name: ops, key: ${ADMIN}, role: admin}\n`,
);
writeFileSync(
  place("c-hosts.yaml"),
  `providers:\n  acme: {speaks: chat-completions, baseUrl: "http://127.0.0.1:1/v1", apiKey: ${UPSTREAM}}\naliases: {slow: mock/chat}\n`,
);

const options = {
  flags: { "--port": "0", "--config": place("weir.yaml"), "--log-level": "silent" },
  env: {},
  cwd: import.meta.dir,
};
const weir = await startWeir({
  ...loadConfig(options),
  reread: (onFile) => reloadConfig({ ...options, onFile }),
  env: {},
  write: () => {},
  adminCredential: "credential-of-the-run",
});
await weir.books();
afterAll(async () => {
  await weir.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function read<Answer>(path: string): Promise<{ text: string; json: Answer }> {
  if (!weir.admin || !("url" in weir.admin)) throw new Error("the admin API is off");
  const response = await fetch(weir.admin.url + path, { headers: { authorization: `Bearer ${ADMIN}` } });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, text]);
  for (const secret of [ADMIN, CALL, UPSTREAM, LATER]) expect(text).not.toContain(secret);
  return { text, json: JSON.parse(text) as Answer };
}

const readSource = async () => (await read<ConfigSource>("/admin/v1/config/source")).json;

test("a key of an included file makes calls", async () => {
  const ask = (key: string) =>
    fetch(`${weir.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  expect([(await ask(CALL)).status, (await ask("another-key-0002")).status]).toEqual([200, 401]);
});

test("all files are shown, each with its secrets masked", async () => {
  const source = await readSource();
  expect(source.file).toBe(place("weir.yaml"));
  expect(source.text).toBe(
    'include: ["c-*.yaml"]\naliases: {fast: mock/chat}\n# the key of bob was ***, and ***\n',
  );
  expect(source.included).toEqual([
    {
      file: place("c-hosts.yaml"),
      text: 'providers:\n  acme: {speaks: chat-completions, baseUrl: "http://127.0.0.1:1/v1", apiKey: ***}\naliases: {slow: mock/chat}\n',
    },
    {
      file: place("c-keys.yaml"),
      text: "keys:\n  - bob:***\nadminKeys:\n  - {name: ops, key: ***, role: admin}\n",
    },
  ]);
});

test("options say which files set them", async () => {
  const { options } = (await read<EffectiveConfig>("/admin/v1/config")).json;
  const option = (path: string) => options.find((one) => one.path === path);
  expect(option("include")?.value).toEqual([place("c-hosts.yaml"), place("c-keys.yaml")]);
  expect(option("aliases")?.where).toBe(`${place("weir.yaml")}:2, ${place("c-hosts.yaml")}:3`);
  expect(option("keys")?.where).toBe(`${place("c-keys.yaml")}:1`);
});

test("files that weir does not load yet are shown without their secrets, too", async () => {
  writeFileSync(place("c-later.yaml"), `keys:\n  - eve:${LATER}\nport: [\n`);
  writeFileSync(place("c-token.yaml"), `${LATER}\n`);
  const { fault } = (await read<EffectiveConfig>("/admin/v1/config")).json;
  expect(fault).toStartWith(`${place("c-later.yaml")}:`);
  const broken = await readSource();
  expect(broken.included.map(({ file }) => file)).toEqual(
    ["c-hosts.yaml", "c-keys.yaml", "c-later.yaml"].map(place),
  );
  rmSync(place("c-later.yaml"));
  const { included } = await readSource();
  expect(included.at(-1)).toEqual({ file: place("c-token.yaml"), text: "***\n" });
  rmSync(place("c-token.yaml"));
});

test("an included file that is gone is named, and the others are shown", async () => {
  writeFileSync(place("weir.yaml"), "include: [c-keys.yaml, c-hosts.yaml, c-gone.yaml]\n");
  const { fault } = (await read<EffectiveConfig>("/admin/v1/config")).json;
  expect(fault).toStartWith(`${place("weir.yaml")}:1: the file ${place("c-gone.yaml")} cannot be read`);
  expect((await readSource()).included.map(({ file }) => file)).toEqual(
    ["c-keys.yaml", "c-hosts.yaml"].map(place),
  );
});
