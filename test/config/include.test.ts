/** `include`: several files make one config, and each error names its file and line. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { loadConfig, reloadConfig } from "../../src/config/load.ts";
import { Secret } from "../../src/core/secret.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "weir-include-")));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let folder = "";
let count = 0;
beforeEach(() => {
  folder = join(root, String(count++));
});

/** Writes the files, of which a missing one is made with its folders. */
function put(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

const load = (env: Record<string, string> = {}) => loadConfig({ env, cwd: folder });

describe("what is merged", () => {
  test("maps by name, sections by option, lists in the order of the files", () => {
    put({
      "weir.yaml":
        "include:\n  - conf.d/*.yaml\n  - last.yaml\nport: 1234\nnames: [a.example]\nproviders:\n  one: {speaks: chat-completions, baseUrl: http://127.0.0.1:1/v1}\nlimits: {bodyBytes: 1000000}\n",
      "conf.d/20-b.yaml": "names: [c.example]\naliases: {b: mock/b}\n",
      "conf.d/10-a.yaml":
        "names: [b.example]\naliases: {a: mock/a}\nproviders:\n  two: {speaks: chat-completions, baseUrl: http://127.0.0.1:2/v1}\n",
      "last.yaml": "names: [d.example]\nlog: {level: error}\nlimits: {calls: 7}\nroutes: {r: [a, mock/b]}\n",
    });
    const { config, sources } = load();
    expect(config.include).toEqual(["conf.d/10-a.yaml", "conf.d/20-b.yaml", "last.yaml"]);
    expect(config.names).toEqual(["a.example", "b.example", "c.example", "d.example"]);
    expect(config.aliases).toEqual({ a: "mock/a", b: "mock/b" });
    expect(Object.keys(config.providers)).toEqual(["one", "two"]);
    expect([config.port, config.log.level, config.limits.bodyBytes]).toEqual([1234, "error", 1_000_000]);
    expect(sources["aliases"]?.at).toBe("conf.d/10-a.yaml:2, conf.d/20-b.yaml:2");
    expect(sources["limits.bodyBytes"]?.at).toBe("weir.yaml:8");
    expect(sources["log.level"]?.at).toBe("last.yaml:2");
    expect(sources["include"]?.at).toBe("weir.yaml:1");
  });

  test("an included file may include others, by paths that begin at itself", () => {
    put({
      "weir.yaml": "include: [teams/all.yaml]\n",
      "teams/all.yaml": "include: [eng/*.yaml]\n",
      "teams/eng/a.yaml": "aliases: {a: mock/a}\n",
      "teams/eng/empty.yaml": "",
    });
    const { config } = load();
    expect(config.aliases).toEqual({ a: "mock/a" });
    expect(config.include).toEqual(["teams/all.yaml", "teams/eng/a.yaml", "teams/eng/empty.yaml"]);
  });

  test("a reload sees changes of included files, and new ones", async () => {
    put({ "weir.yaml": "include: [c/*.yaml]\n", "c/a.yaml": "aliases: {a: mock/a}\n" });
    expect(load().config.aliases).toEqual({ a: "mock/a" });
    put({ "c/a.yaml": "aliases: {a: mock/b}\n", "c/b.yaml": "aliases: {n: mock/n}\n" });
    const { config } = await reloadConfig({ env: {}, cwd: folder });
    expect(config.aliases).toEqual({ a: "mock/b", n: "mock/n" });
  });

  test("patterns find symbolic links, cross folders, and take brackets as they are", () => {
    put({
      "weir.yaml": 'include: ["mount/*.yaml", "deep/**/x.yaml", "odd[1]/*.yaml"]\n',
      "data/real.yaml": "aliases: {a: mock/a}\n",
      "mount/folder.yaml/inner.txt": "",
      "deep/one/two/x.yaml": "aliases: {b: mock/b}\n",
      "odd[1]/y.yaml": "aliases: {c: mock/c}\n",
    });
    symlinkSync("../data/real.yaml", join(folder, "mount/link.yaml"));
    expect(load().config.aliases).toEqual({ a: "mock/a", b: "mock/b", c: "mock/c" });
  });

  test("a pattern that matches its own file leaves it out", () => {
    put({ "weir.yaml": "include: ['*.yaml']\nport: 7\n", "b.yaml": "include: ['*.yaml']\nstrict: true\n" });
    const { config } = load();
    expect([config.port, config.strict, config.include]).toEqual([7, true, ["b.yaml"]]);
  });

  test("a name like a member of every object is a name", () => {
    put({
      "weir.yaml": "include: [a.yaml]\naliases: {x: mock/x}\n",
      "a.yaml": "aliases: {__proto__: mock/p, constructor: mock/c}\n",
    });
    expect(Object.entries(load().config.aliases)).toEqual([
      ["x", "mock/x"],
      ["__proto__", "mock/p"],
      ["constructor", "mock/c"],
    ]);
  });
});

describe("what an included file refers to", () => {
  test("variables, and secret files beside the file that names them", () => {
    put({
      "weir.yaml": "include: [sub/a.yaml]\nproviders: {groq: {apiKey: '${file:key}'}}\n",
      key: "of-the-main-file\n",
      "sub/key": "of-the-included-file\n",
      "sub/a.yaml": "port: ${PORT}\nproviders: {openai: {apiKey: '${file:key}'}}\n",
    });
    const { config } = load({ PORT: "4321" });
    const keyOf = (name: string) => (config.providers[name]!.apiKey as Secret).reveal();
    expect([config.port, keyOf("groq"), keyOf("openai")]).toEqual([
      4321,
      "of-the-main-file",
      "of-the-included-file",
    ]);
  });

  test("relative paths of options begin at the file that has them", () => {
    put({
      "weir.yaml": "include: [sub/a.yaml]\n",
      "sub/a.yaml": "state: books\nplugins: {dir: own}\nlisten: {unix: w.sock}\n",
      "sub/own/none.txt": "",
    });
    const { config } = load();
    expect([config.state, config.plugins.dir, config.listen.unix]).toEqual(
      ["books", "own", "w.sock"].map((name) => join(folder, "sub", name)),
    );
    put({ "sub/a.yaml": "state: none\n" });
    expect(load().config.state).toBe("none");
  });
});

const ROWS: readonly [what: string, files: Record<string, string>, message: string][] = [
  [
    "an option in two files",
    { "weir.yaml": "include: [a.yaml]\nport: 1\n", "a.yaml": "\nport: 1\n" },
    "a.yaml:2: port is already set at weir.yaml:2, and each may be set in one file only (at port).",
  ],
  [
    "a name in two included files",
    {
      "weir.yaml": "include: ['*.yaml']\n",
      "a.yaml": "providers:\n  openai: {apiKey: one}\n",
      "b.yaml": "providers:\n  groq: {apiKey: two}\n  openai: {headers: {a: b}}\n",
    },
    "b.yaml:3: openai is already set at a.yaml:2, and each may be set in one file only (at providers.openai).",
  ],
  [
    "a list below a name in two files",
    { "weir.yaml": "include: [a.yaml]\nroutes: {r: [mock/a]}\n", "a.yaml": "routes: {r: [mock/b]}\n" },
    "a.yaml:1: r is already set at weir.yaml:2, and each may be set in one file only (at routes.r).",
  ],
  [
    "an option of a section in two files",
    {
      "weir.yaml": "include: [a.yaml]\nlog:\n  level: warn\n",
      "a.yaml": "log: {level: info, format: json}\n",
    },
    "a.yaml:1: level is already set at weir.yaml:3, and each may be set in one file only (at log.level).",
  ],
  [
    "a value of two forms in two files",
    {
      "weir.yaml": "include: [a.yaml]\nstore: postgres://a@127.0.0.1/b\n",
      "a.yaml": "store: {url: postgres://a@127.0.0.1/c}\n",
    },
    "a.yaml:1: store is already set at weir.yaml:2, and each may be set in one file only (at store).",
  ],
  [
    "a key's name in two files",
    {
      "weir.yaml": "include: [a.yaml]\nkeys:\n  - bob:k1234567890123456\n  - alice:k1234567890123457\n",
      "a.yaml": "keys:\n  - carol:k1234567890123458\n  - {name: bob, key: k1234567890123459}\n",
    },
    "a.yaml:3: keys[3] has the name bob, which the key at weir.yaml:3 already has (at keys[3].name).",
  ],
  [
    "a mistake in an entry of a joined list",
    {
      "weir.yaml": "include: [a.yaml]\nkeys:\n  - bob:k1234567890123456\n",
      "a.yaml": "keys:\n  - carol:k1234567890123458\n  - dora:changeme\n",
    },
    "a.yaml:3: keys[2] is a placeholder; generate a key, for example with openssl rand -hex 32 (at keys[2]).",
  ],
  [
    "an option with a wrong value",
    { "weir.yaml": "include: [c/a.yaml]\n\n\n", "c/a.yaml": "retries:\n  attempts: 11\n" },
    "c/a.yaml:2: attempts must be an integer between 1 and 10, but is 11 (at retries.attempts).",
  ],
  [
    "an unknown option",
    { "weir.yaml": "include: [a.yaml]\n", "a.yaml": "prot: 1\n" },
    "a.yaml:1: unknown option prot, did you mean port? (at prot).",
  ],
  [
    "a rule between two files",
    { "weir.yaml": "include: [a.yaml]\naliases: {r: mock/x}\n", "a.yaml": "\n\nroutes:\n  r: [mock/y]\n" },
    "a.yaml:4: r is already an alias (at routes.r).",
  ],
  [
    "mistakes in two files: the one of the first file",
    {
      "weir.yaml": "include: [a.yaml]\n\n\naliases:\n  x: x\n",
      "a.yaml": "aliases: {y: y}\n",
    },
    "weir.yaml:5: x resolves to itself (at aliases.x).",
  ],
  [
    "half of a section",
    { "weir.yaml": "include: [a.yaml]\n", "a.yaml": "\ntls:\n  cert: c.pem\n" },
    "a.yaml:3: tls must have both cert and key (at tls.cert).",
  ],
  [
    "a file that a section of an included file names",
    { "weir.yaml": "include: [a/a.yaml]\n", "a/a.yaml": "tls:\n  cert: none.pem\n  key: none.pem\n" },
    "a/a.yaml:2: ",
  ],
  [
    "a variable that is not set",
    { "weir.yaml": "include: [a.yaml]\n", "a.yaml": "aliases:\n  a: ${NONE}\n" },
    "a.yaml:2: the environment variable NONE is not set (at aliases.a).",
  ],
  [
    "text that is not YAML",
    { "weir.yaml": "include: [a.yaml]\n", "a.yaml": "port: 1\nhost: [\n" },
    "a.yaml:",
  ],
  [
    "a name twice in one file",
    { "weir.yaml": "include: [a.yaml]\n", "a.yaml": "port: 1\nport: 2\n" },
    "a.yaml:2: port is set twice (at port).",
  ],
  [
    "a file that is a list",
    { "weir.yaml": "include: [a.yaml]\n", "a.yaml": "- port\n" },
    "a.yaml:1: the config file must be a map of options.",
  ],
  [
    "a missing file",
    { "weir.yaml": "include:\n  - ok.yaml\n  - conf.d/none.yaml\n", "ok.yaml": "" },
    "weir.yaml:3: the file conf.d/none.yaml cannot be read (there is no such file) (at include[1]).",
  ],
  ["a folder", { "weir.yaml": "include: [c]\n", "c/a.yaml": "" }, "weir.yaml:1: the file c cannot be read ("],
  [
    "a pattern without files",
    { "weir.yaml": "port: 1\ninclude: [conf.d/*.yaml]\n" },
    "weir.yaml:2: no file matches conf.d/*.yaml; create one, or remove the entry (at include[0]).",
  ],
  [
    "an empty path",
    { "weir.yaml": 'include: [""]\n' },
    "weir.yaml:1: the path of an included file is empty (at include[0]).",
  ],
  [
    "a cycle",
    {
      "weir.yaml": "include: [c/a.yaml]\n",
      "c/a.yaml": "include: [b.yaml]\n",
      "c/b.yaml": "include:\n  - ../weir.yaml\n",
    },
    "c/b.yaml:2: the file weir.yaml leads to this entry itself, so including it here would never end (at include[0]).",
  ],
  [
    "a file that is included twice",
    { "weir.yaml": "include:\n  - a.yaml\n  - ./a.yaml\n", "a.yaml": "" },
    "weir.yaml:3: the file a.yaml is already included at weir.yaml:2 (at include[1]).",
  ],
  [
    "a text in place of the list",
    { "weir.yaml": "include: conf.d/*.yaml\n" },
    'weir.yaml:1: include must be a list, but is "conf.d/*.yaml" (at include).',
  ],
  [
    "a chain that is too long",
    Object.fromEntries(
      ["weir.yaml", ...Array.from({ length: 12 }, (_, at) => `${at}.yaml`)].map((name, at) => [
        name,
        `include: [${at}.yaml]\n`,
      ]),
    ),
    "9.yaml:1: the file 10.yaml is included by 11 files, one in the other; at most 10 are allowed (at include[0]).",
  ],
];

describe("mistakes are told at their file and line", () => {
  for (const [what, files, message] of ROWS)
    test(what, () => {
      put(files);
      let said = "";
      try {
        load();
      } catch (fault) {
        said = String((fault as Error).message);
      }
      if (message.endsWith(".")) expect(said).toBe(message);
      else expect(said).toStartWith(message);
    });
});

test("no secret of an included file is in a message", () => {
  for (const keys of [
    "keys: [alice:s3cret-of-alice, alice:s3cret-of-alice]",
    "keys: [[s3cret-of-alice]]",
    "keys: s3cret-of-alice",
  ]) {
    put({ "weir.yaml": "include: [a.yaml]\nkeys: [bob:k1234567890123456]\n", "a.yaml": `${keys}\n` });
    expect(() => load()).toThrow("a.yaml:1: ");
    expect(() => load()).not.toThrow("s3cret");
  }
});

test("what is asked of an option after the start finds the file, too", () => {
  put({
    "weir.yaml":
      "include: [a.yaml]\nkeys: [bob:k1234567890123456]\nbudgets:\n  x: {on: all, every: month, limit: 1}\n",
    "a.yaml": "keys:\n  - carol:k1234567890123457\nbudgets:\n  y: {on: all, every: month, limit: 2}\n",
  });
  const { locate } = load({ WEIR_API_KEYS: "dora:k1234567890123458" });
  expect(
    [["keys", 0], ["keys", 1], ["keys", 2], ["budgets", "y", "limit"], ["budgets", "x"], ["budgets"]].map(
      locate,
    ),
  ).toEqual(["weir.yaml:2", "a.yaml:2", "WEIR_API_KEYS", "a.yaml:4", "weir.yaml:4", "weir.yaml:3"]);
});
