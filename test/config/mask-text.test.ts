/** No spelling of a config file shows a secret of it, and what is no secret stays readable. */
import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { maskText, maskTexts } from "../../src/config/mask-text.ts";
import { Secret } from "../../src/core/secret.ts";

const KEY = "Zq7vW2xTm4Yr9Lk1";
const OTHER = "Hn5bC8dFj3Ps6Ga0";

/** Spellings of files in which KEY, and in some also OTHER, is a secret. */
const SPELLINGS: Record<string, string> = {
  "an entry": `keys:\n  - bob:${KEY}\n`,
  "an entry without indentation": `keys:\n- bob:${KEY}\n- ${OTHER}\n`,
  "a bare key": `keys:\n  - ${KEY}\n`,
  "a quoted entry": `keys:\n  - "bob:${KEY}"\n  - 'eve:${OTHER}'\n`,
  "a member": `keys:\n  - name: bob\n    key: ${KEY}\n`,
  "a member first": `keys:\n  - key: ${KEY}\n    name: bob\n`,
  "a flow map": `keys:\n  - { name: carol, key: "${KEY}" }\n`,
  "a flow list": `keys: [bob:${KEY}, {name: eve, key: ${OTHER}}]\n`,
  "a flow list of several lines": `keys: [\n  bob:${KEY},\n  ${OTHER}\n]\n`,
  "a folded block": `keys:\n  - name: bob\n    key: >-\n      ${KEY}\nport: 1\n`,
  "a literal block": `keys:\n  - |\n    bob:${KEY}\nport: 1\n`,
  "an explicit key": `keys:\n  - ? key\n    : ${KEY}\n    ? name\n    : bob\n`,
  "a quoted name of the option": `"keys":\n  - "key": "${KEY}"\n    "name": "bob"\n`,
  "an anchor": `keys:\n  - name: bob\n    key: &k ${KEY}\n`,
  "an alias of another option": `aliases: {a: &k "${KEY}"}\nkeys:\n  - name: bob\n    key: *k\n`,
  "an alias of an entry": `x: &e {name: bob, key: ${KEY}}\nkeys:\n  - *e\n`,
  "a merge": `x: &e\n  key: ${KEY}\nkeys:\n  - <<: *e\n    name: bob\n`,
  "a tag": `keys:\n  - !!str ${KEY}\n`,
  JSON: JSON.stringify({ keys: [`bob:${KEY}`, { name: "eve", key: OTHER }], port: 1 }),
  "JSON of several lines": JSON.stringify({ port: 1, keys: [{ key: KEY, name: "bob" }, OTHER] }, null, 2),
  "JSON with an escape": `{"keys": ["bob:${KEY.replace("q", "\\u0071")}", {"name": "eve", "key": "${OTHER}"}]}`,
  "YAML with an escape": `keys: ["bob:${KEY.replace("q", "\\x71")}"]\n`,
  "a text of two lines": `keys:\n  - name: bob\n    key: "${KEY.slice(0, 8)}\\\n      ${KEY.slice(8)}"\n`,
  twice: `keys:\n  - bob:${KEY}\nport: 1\nkeys:\n  - eve:${OTHER}\n`,
  "two documents": `keys:\n  - bob:${KEY}\n---\nkeys:\n  - eve:${OTHER}\n`,
  "a comment behind it": `keys:\n  - bob:${KEY} # ${KEY} is that of bob\n`,
  "a comment above": `# bob has ${KEY}\nkeys:\n  - bob:${KEY}\n`,
  "an entry in a comment": `keys:\n  - bob:${KEY}\n  # - eve:${OTHER}\n  #- ${OTHER}\n`,
  "a member in a comment": `# key: ${KEY}\n#   apiKey: "${OTHER}"\nport: 1\n`,
  "no quotes, so that it is a map": `keys:\n  - bob: ${KEY}\n`,
  "a map whose name is the key": `keys:\n  - {"bob:${KEY}": x}\n`,
  "the default of a reference": `keys:\n  - bob:\${KEY_OF_BOB:-${KEY}}\n`,
  "beside a reference": `keys:\n  - name: bob\n    key: \${PREFIX}${KEY}\n`,
  "a provider": `providers:\n  openai:\n    apiKey: ${KEY}\n    headers: {x-extra: "${OTHER}"}\n`,
  "a header with a scheme": `providers:\n  a:\n    headers:\n      authorization: Bearer ${KEY}\n`,
  "secrets of a provider": `providers:\n  a:\n    secrets: {AWS_SECRET_ACCESS_KEY: ${KEY}}\n`,
  "a deployment": `providers:\n  a:\n    deployments:\n      - {name: b, apiKey: ${KEY}}\n`,
  "the store": `store: postgres://weir:${KEY}@db/weir\n`,
  "the store as a group": `store: {url: "postgres://weir:${KEY}@db/weir"}\n`,
  "a misspelled option": `provider:\n  openai:\n    api_key: ${KEY}\n`,
  "a digest": `keys:\n  - {name: bob, sha256: ${new Secret("x").digest()}}\n`,
  "a file with a tab": `keys:\n\t- bob:${KEY}\n`,
  "a file with an open quote": `keys:\n  - "bob:${KEY}\n  - eve:${OTHER}\nport: 1\n`,
  "a file with an open bracket": `keys: [bob:${KEY},\n  eve:${OTHER}\nport: 1\n`,
  "a broken file without indentation": `keys:\n- bob:${KEY}\n- "eve\nport: [\n`,
  "Windows line ends": `keys:\r\n  - bob:${KEY}\r\n  - name: eve\r\n    key: ${OTHER}\r\n`,
};

describe("no secret is shown:", () => {
  for (const [what, text] of Object.entries(SPELLINGS))
    test(what, () => {
      const shown = maskText(text);
      expect(shown).not.toContain(KEY);
      expect(shown).not.toContain(KEY.slice(0, 8));
      expect(shown).not.toContain(KEY.slice(8));
      expect(shown).not.toContain(OTHER);
      expect(shown).not.toContain(new Secret("x").digest());
      expect(shown).toContain("***");
    });
});

test("names, references, comments and other options stay as they are written", () => {
  const text = `# our gateway
port: 9347 # the default
keys:
  - bob:${KEY}
  - alice:\${KEY_OF_ALICE}
  - { name: carol, key: "\${KEY_OF_CAROL}" }
  - name: dave
    sha256: \${file:/run/secrets/dave}
    models: [gpt-*, "claude-*"]
    maxTokens: 100
providers:
  openai:
    apiKey: \${OPENAI_API_KEY}
  a:
    headers:
      authorization: Bearer \${TOKEN}
metrics: { keys: true }
`;
  expect(maskText(text)).toBe(text.replace(KEY, "***"));
});

test("errors repeat no key either, wherever a mistake puts it", () => {
  const said: string[] = [];
  for (const [what, text] of Object.entries(SPELLINGS)) {
    const cwd = mkdtempSync(join(tmpdir(), "weir-mask-"));
    writeFileSync(join(cwd, "weir.yaml"), text);
    const env = { KEY_OF_BOB: "", PREFIX: "prefix-" };
    try {
      loadConfig({ flags: {}, env, cwd });
    } catch (cause) {
      const sentence = String(cause);
      if ([KEY, OTHER].some((key) => sentence.includes(key))) said.push(`${what}: ${sentence}`);
    }
    rmSync(cwd, { recursive: true });
  }
  expect(said).toEqual([]);
});

test("lines keep their numbers", () => {
  for (const text of Object.values(SPELLINGS))
    expect(maskText(text).split("\n").length).toBe(text.split("\n").length);
});

test("the text of an active key is masked wherever it stands, by its digest", () => {
  const digests = [new Secret(KEY).digest()];
  for (const text of [
    `# once it was ${KEY}\nport: 1\n`,
    `nonsense ${KEY}: [\n`,
    `aliases: {"${KEY}": mock/chat}\n`,
    `x: eve:${KEY}\n`,
  ])
    expect(maskText(text, { digests })).not.toContain(KEY);
});

test("what references stood for is masked too", () => {
  const config = { providers: { a: { apiKey: new Secret(KEY) } } };
  expect(maskText(`# ${KEY}\nproviders: {a: {apiKey: "\${A}"}}\n`, { configs: [config] })).toBe(
    '# ***\nproviders: {a: {apiKey: "${A}"}}\n',
  );
});

test("a secret of one file is masked in all files of a config", () => {
  const texts = [
    "include: [a.yaml]\n# not zebra-zebra any more\n",
    "providers: {openai: {apiKey: zebra-zebra}}\n",
  ];
  expect(maskTexts(texts)).toEqual([
    "include: [a.yaml]\n# not *** any more\n",
    "providers: {openai: {apiKey: ***}}\n",
  ]);
});

test("an included file without options is masked whole, whatever it looks like", () => {
  const bare = ["", "%", "@", "*", "{", "? ", "- ", '"', "!", "a: ", "---\n...\n", '{"private_key": '];
  for (const before of bare) {
    const shown = maskTexts(["port: 1\n", `${before}${KEY}\n`])[1]!;
    expect(shown).not.toContain(KEY);
    expect(shown).toContain("***");
  }
  expect(maskTexts(["", "# a comment\n\n  # and another\n", "port: 1\n"]).slice(1)).toEqual([
    "# a comment\n\n  # and another\n",
    "port: 1\n",
  ]);
});
