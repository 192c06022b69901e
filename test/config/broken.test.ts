/** Mistakes in `weir.yaml`: each stops the start with one sentence that names file, line and path. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "../../src/config/error.ts";
import { loadConfig } from "../../src/config/load.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-config-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const BROKEN: readonly [yaml: string, message: string][] = [
  ["port: abc", 'weir.yaml:1: port must be an integer between 0 and 65535, but is "abc" (at port).'],
  ["port: 70000", "weir.yaml:1: port must be an integer between 0 and 65535, but is 70000 (at port)."],
  ["port: 1.5", "weir.yaml:1: port must be an integer between 0 and 65535, but is 1.5 (at port)."],
  ["prot: 1", "weir.yaml:1: unknown option prot, did you mean port? (at prot)."],
  ["host: 7", "weir.yaml:1: host must be a text, but is 7 (at host)."],
  ['host: ""', 'weir.yaml:1: host must be an IP address or a host name, but is "" (at host).'],
  [
    "host: 0.0.0.0",
    "weir.yaml:1: other machines can reach host 0.0.0.0, and no gateway keys are set; set WEIR_API_KEYS or keys, or listen on 127.0.0.1 (at host).",
  ],
  ["keys: x", "weir.yaml:1: keys must be a list, but is a text (at keys)."],
  [
    "keys: [changeme]",
    "weir.yaml:1: keys[0] is a placeholder; generate a key, for example with openssl rand -hex 32 (at keys[0]).",
  ],
  ["keys:\n  - name: a", "weir.yaml:2: keys[0] must have either key or sha256 (at keys[0])."],
  ['keys:\n  - name: a\n    key: ""', "weir.yaml:3: keys[0] is empty (at keys[0].key)."],
  [
    "keys:\n  - name: a\n    key: k1234567890123456\n  - name: a\n    key: k1234567890123457",
    "weir.yaml:4: keys[1] has the name a, which the key at weir.yaml:2 already has (at keys[1].name).",
  ],
  [
    "keys:\n  - {name: a, sha256: zz}",
    "weir.yaml:2: sha256 must be 64 hexadecimal digits, but is another text (at keys[0].sha256).",
  ],
  [
    "routes:\n  a: [openai/x]\n  b:\n    - a",
    "weir.yaml:4: the route b must list models, but a is a route; list that route's models instead (at routes.b[0]).",
  ],
  ["routes:\n  a:\n    - model: a", "weir.yaml:3: the route a contains itself (at routes.a[0])."],
  ["aliases: {x: a}\nroutes:\n  a: [x]", "weir.yaml:3: the route a contains itself (at routes.a[0])."],
  ["aliases: {a: mock/x}\nroutes:\n  a: [mock/x]", "weir.yaml:3: a is already an alias (at routes.a)."],
  [
    "routes:\n  a:\n    - {model: mock/x, weight: 0}",
    "weir.yaml:3: weight must be an integer between 1 and 1000, but is 0 (at routes.a[0].weight).",
  ],
  [
    "fallbacks:\n  a: [{model: mock/x, when: never}]",
    'weir.yaml:2: when must be one of failed, too-long, but is "never" (at fallbacks.a[0].when).',
  ],
  ["fallbacks:\n  a: [b, a]", "weir.yaml:2: a falls back to itself (at fallbacks.a[1])."],
  [
    "fallbacks:\n  gpt-*: [x*]",
    'weir.yaml:2: the fallback of gpt-* must be a model name without * (at fallbacks["gpt-*"][0]).',
  ],
  [
    "routes:\n  smart: []",
    "weir.yaml:2: smart must be a list of at least one model, but is an empty list (at routes.smart).",
  ],
  [
    "fallbacks:\n  smart: []",
    "weir.yaml:2: smart must be a list of at least one model, but is an empty list (at fallbacks.smart).",
  ],
  [
    "providers:\n  openai:\n    deployments: []",
    "weir.yaml:3: deployments must be a list of at least one deployment, but is an empty list (at providers.openai.deployments).",
  ],
  ["aliases:\n  a: ''", "weir.yaml:2: the model that a resolves to is empty (at aliases.a)."],
  ["routes:\n  a: ['']", "weir.yaml:2: the model in route a is empty (at routes.a[0])."],
  ["fallbacks:\n  a: ['']", "weir.yaml:2: the fallback of a is empty (at fallbacks.a[0])."],
  [
    "aliases:\n  a: x,y",
    "weir.yaml:2: the model that a resolves to must be a model name of letters, digits and . : / @ + - _ (at aliases.a).",
  ],
  [
    "providers:\n  openai:\n    deployments:\n      - {name: a}\n      - {name: a}",
    "weir.yaml:5: the deployment a is defined twice (at providers.openai.deployments[1].name).",
  ],
  [
    "providers:\n  openai:\n    deployments:\n      - {name: a, baseUrl: ftp://x}",
    "weir.yaml:4: baseUrl must begin with http:// or https://, but begins with ftp: (at providers.openai.deployments[0].baseUrl).",
  ],
  [
    "providers:\n  openai:\n    deployments:\n      - {name: a, apiKey: ''}",
    "weir.yaml:4: apiKey is empty; remove it to use no credential (at providers.openai.deployments[0].apiKey).",
  ],
  [
    "retries: {attempts: 0}",
    "weir.yaml:1: attempts must be an integer between 1 and 10, but is 0 (at retries.attempts).",
  ],
  [
    "providers: []",
    "weir.yaml:1: providers must be a map of names to values, but is an empty list (at providers).",
  ],
  [
    "providers:\n  openai: 3",
    "weir.yaml:2: openai must be a group of options, but is a number (at providers.openai).",
  ],
  [
    "providers:\n  openai:\n    baseUrl: ftp://x",
    "weir.yaml:3: baseUrl must begin with http:// or https://, but begins with ftp: (at providers.openai.baseUrl).",
  ],
  [
    "providers:\n  openai:\n    baseUrl: https://u:p@x/v1",
    "weir.yaml:3: baseUrl must not contain a user name or password; use apiKey or headers (at providers.openai.baseUrl).",
  ],
  [
    "providers:\n  openai:\n    baseUrl: https://x/v1?a=1",
    "weir.yaml:3: baseUrl must not have a query or a fragment (at providers.openai.baseUrl).",
  ],
  [
    "providers:\n  openai:\n    baseURL: https://x",
    "weir.yaml:3: unknown option baseURL, did you mean baseUrl? (at providers.openai.baseURL).",
  ],
  [
    'providers:\n  openai:\n    apiKey: ""',
    "weir.yaml:3: apiKey is empty; remove it to use no credential (at providers.openai.apiKey).",
  ],
  [
    "providers:\n  openai:\n    apiKey: ${NOPE}",
    "weir.yaml:3: the environment variable NOPE is not set (at providers.openai.apiKey).",
  ],
  [
    "providers:\n  Open AI: {}",
    'weir.yaml:2: a provider\'s name must consist of lower-case letters, digits and dashes (at providers["Open AI"]).',
  ],
  ["aliases:\n  a: 3", "weir.yaml:2: a must be a text, but is 3 (at aliases.a)."],
  ["aliases:\n  a: a", "weir.yaml:2: a resolves to itself (at aliases.a)."],
  ["aliases:\n  a: b\n  b: a", "weir.yaml:2: a resolves to itself (at aliases.a)."],
  [
    "cors: { origins: [https://a.example/app] }",
    "weir.yaml:1: origins[0] must be an origin, such as https://app.example.com, without a path (at cors.origins[0]).",
  ],
  [
    "cors: { origins: ['https://A.example:443'] }",
    "weir.yaml:1: origins[0] must be written as browsers send it: https://a.example (at cors.origins[0]).",
  ],
  [
    "cors: { origins: ['*'] }",
    "weir.yaml:1: every web page could call the gateway, and no gateway keys are set; set WEIR_API_KEYS or keys, or list the allowed origins (at cors.origins).",
  ],
  ["log: loud", 'weir.yaml:1: log must be a group of options, but is "loud" (at log).'],
  [
    "log:\n  format: xml",
    'weir.yaml:2: format must be one of auto, json, pretty, but is "xml" (at log.format).',
  ],
  [
    "log:\n  level: chatty",
    'weir.yaml:2: level must be one of info, warn, error, silent, but is "chatty" (at log.level).',
  ],
  [
    "limits:\n  bodyBytes: -1",
    "weir.yaml:2: bodyBytes must be an integer between 1024 and 1073741824, but is -1 (at limits.bodyBytes).",
  ],
  [
    "limits:\n  depth: 2",
    "weir.yaml:2: depth must be an integer between 8 and 1000, but is 2 (at limits.depth).",
  ],
  [
    "timeouts:\n  gapMs: 0",
    "weir.yaml:2: gapMs must be an integer between 1 and 86400000, but is 0 (at timeouts.gapMs).",
  ],
  [
    "timeouts:\n  gapMs: fast",
    'weir.yaml:2: gapMs must be an integer between 1 and 86400000, but is "fast" (at timeouts.gapMs).',
  ],
  ["timeouts:\n  gap: 1", "weir.yaml:2: unknown option gap (at timeouts.gap)."],
  [
    "messages:\n  systemTurns: maybe",
    'weir.yaml:2: systemTurns must be one of accept, reject, but is "maybe" (at messages.systemTurns).',
  ],
  ['strict: "yes"', 'weir.yaml:1: strict must be true or false, but is "yes" (at strict).'],
  [
    "plugins:\n  dir: /no/such/dir",
    "weir.yaml:2: dir must be a folder, but there is no folder at /no/such/dir (at plugins.dir).",
  ],
  [
    "a: [1",
    "weir.yaml:1: not valid YAML (flow sequence in block collection must be sufficiently indented and end with a ]).",
  ],
  ["port: 1\nport: 2", "weir.yaml:2: port is set twice (at port)."],
  ["- 1", "weir.yaml:1: the config file must be a map of options."],
  ['"just text"', "weir.yaml:1: the config file must be a map of options."],
  ["\tport: 1", "weir.yaml:1: not valid YAML (tabs are not allowed as indentation)."],
  [
    "providers:\n  openai:\n    variables:\n      region: ' '",
    "weir.yaml:4: region is empty (at providers.openai.variables.region).",
  ],
  [
    "providers:\n  openai:\n    secrets:\n      ACME_ID: ''",
    "weir.yaml:4: ACME_ID is empty (at providers.openai.secrets.ACME_ID).",
  ],
  [
    "providers:\n  acme:\n    baseUrl: http://a.example\n    speaks:\n      messages: {json: /a, steam: /b}",
    "weir.yaml:5: unknown option steam, did you mean stream? (at providers.acme.speaks.messages.steam).",
  ],
  [
    "providers:\n  openai:\n    headers:\n      x: 1",
    "weir.yaml:4: x must be a text, but is a number (at providers.openai.headers.x).",
  ],
  [
    "providers:\n  openai:\n    models: gpt",
    'weir.yaml:3: models must be a list, but is "gpt" (at providers.openai.models).',
  ],
  [
    "providers:\n  openai:\n    enabled: 1",
    "weir.yaml:3: enabled must be true or false, but is 1 (at providers.openai.enabled).",
  ],
  ["strict: null", "weir.yaml:1: strict must be true or false, but is empty (at strict)."],
  [
    "keys:\n  - 7",
    "weir.yaml:2: keys[0] must be a key, or a group of `name` and `key` or `sha256`, but is a number (at keys[0]).",
  ],
  ["port: 1 # ok\nlimits: 3", "weir.yaml:2: limits must be a group of options, but is 3 (at limits)."],
  ["host: [1]", "weir.yaml:1: host must be a text, but is a list (at host)."],
  ["plugins: x", 'weir.yaml:1: plugins must be a group of options, but is "x" (at plugins).'],
  [
    'aliases: {"bad name": x}',
    'weir.yaml:1: an alias must be a model name without spaces (at aliases["bad name"]).',
  ],
  [
    "providers:\n  openai:\n    baseUrl: nonsense",
    "weir.yaml:3: baseUrl is not a URL, such as https://api.example.com/v1 (at providers.openai.baseUrl).",
  ],
  [
    'prices:\n  "gpt 5": {input: 1, output: 2}',
    'weir.yaml:2: "gpt 5" must be a model or a pattern over models, such as "openai/gpt-5.4" or "ollama/*" (at prices["gpt 5"]).',
  ],
  [
    'prices:\n  "openai/x": {input: 1}',
    'weir.yaml:2: the price of "openai/x" has no output (at prices["openai/x"]).',
  ],
  [
    'prices:\n  "openai/x": 3',
    'weir.yaml:2: openai/x must be 0, or a group with `input` and `output`, but is 3 (at prices["openai/x"]).',
  ],
  [
    'prices:\n  "openai/x": {input: -1, output: 2}',
    'weir.yaml:2: input must be a number between 0 and 1000000, but is -1 (at prices["openai/x"].input).',
  ],
  [
    'prices:\n  "openai/x": {inputs: 1, output: 2}',
    'weir.yaml:2: unknown option inputs, did you mean input? (at prices["openai/x"].inputs).',
  ],
  [
    'prices:\n  "azure/*": {discount: 12}',
    'weir.yaml:2: discount must be a number between 0 and 1, but is 12 (at prices["azure/*"].discount).',
  ],
  [
    'prices:\n  "azure/*": {discount: 0.1, input: 1}',
    'weir.yaml:2: the price of "azure/*" must be a discount or prices, not both (at prices["azure/*"]).',
  ],
];

for (const [yaml, message] of BROKEN) {
  test(`is refused, with a sentence: ${yaml.replaceAll("\n", " ")}`, () => {
    writeFileSync(join(folder, "weir.yaml"), yaml);
    const load = () => loadConfig({ env: {}, cwd: folder });
    expect(load).toThrow(ConfigError);
    expect(load).toThrow(message);
  });
}

test("a file that was named must be there; the usual one need not", () => {
  rmSync(join(folder, "weir.yaml"), { force: true });
  expect(loadConfig({ env: {}, cwd: folder }).config.port).toBe(9347);
  expect(() => loadConfig({ flags: { "--config": "none.yaml" }, env: {}, cwd: folder })).toThrow("none.yaml");
  expect(() => loadConfig({ env: { WEIR_CONFIG: "none.yaml" }, cwd: folder })).toThrow("none.yaml");
});

test("flag, environment, file, default: in that order, and each says where it came from", () => {
  writeFileSync(join(folder, "weir.yaml"), "port: 3\nhost: 127.0.0.2\n");
  const load = (flags: Record<string, string>, env: Record<string, string>) => {
    const { config, sources } = loadConfig({ flags, env, cwd: folder });
    return [config.port, sources["port"]?.at];
  };
  expect(load({ "--port": "1" }, { WEIR_PORT: "2" })).toEqual([1, "--port"]);
  expect(load({}, { WEIR_PORT: "2" })).toEqual([2, "WEIR_PORT"]);
  expect(load({}, {})).toEqual([3, "weir.yaml:1"]);
  expect(loadConfig({ env: {}, cwd: folder }).sources["strict"]?.at).toBe("default");
});

test("variables in the file are replaced, and secrets do not print", () => {
  writeFileSync(join(folder, "weir.yaml"), "providers:\n  openai:\n    apiKey: ${THE_KEY}\n");
  const { config } = loadConfig({ env: { THE_KEY: "sk-canary" }, cwd: folder });
  expect(config.providers["openai"]?.apiKey?.reveal()).toBe("sk-canary");
  expect(JSON.stringify(config) + Bun.inspect(config)).not.toContain("canary");
});

test("gateway keys come from the environment with a name each, and are kept as digests", () => {
  rmSync(join(folder, "weir.yaml"), { force: true });
  const env = { WEIR_API_KEYS: "alice:first-secret-canary-1, second-secret-canary-2" };
  const { config } = loadConfig({ env, cwd: folder });
  expect(config.keys.length).toBe(2);
  expect(config.keys[0]?.name).toBe("alice");
  expect(config.keys[0]?.sha256).toBe(
    new Bun.CryptoHasher("sha256").update("first-secret-canary-1").digest("hex"),
  );
  expect(JSON.stringify(config)).not.toContain("canary");
  expect(() => loadConfig({ env: { WEIR_API_KEYS: "" }, cwd: folder })).toThrow("empty");
});

test("keys of the environment are added to those of the file, and a name is used once", () => {
  const file =
    "keys:\n  - name: alice\n    key: first-secret-canary-1\n    budget: 5/month\nbudgets:\n  of-alice: {on: {key: alice}, limit: 1, every: day}\n";
  writeFileSync(join(folder, "weir.yaml"), file);
  const load = (keys: string) => loadConfig({ env: { WEIR_API_KEYS: keys }, cwd: folder });
  const { config, sources } = load("app:second-secret-canary-2");
  expect(config.keys.map(({ name }) => name)).toEqual(["alice", "app"]);
  expect(sources["keys"]?.at).toBe("weir.yaml:1, WEIR_API_KEYS");
  expect(() => load("alice:second-secret-canary-2")).toThrow(
    "WEIR_API_KEYS: keys[1] has the name alice, which the key at weir.yaml:2 already has",
  );
  expect(() => load("app:first-secret-canary-1")).toThrow("WEIR_API_KEYS: keys[1] is the same key as alice");
  writeFileSync(join(folder, "weir.yaml"), `${file}  of-bob: {on: {key: bob}, limit: 1, every: day}\n`);
  expect(() => load("app:second-secret-canary-2")).toThrow(
    "weir.yaml:7: key must be the name of a key of this file",
  );
  expect(load("bob:second-secret-canary-2").config.keys.length).toBe(2);
});
