/** Who may import whom, as a table with a reason per row, and which words a folder may know. */
import { expect, test } from "bun:test";
import { dirname, join, relative, resolve } from "node:path";
import { Glob } from "bun";
import { FEATURES } from "./helpers/commands.ts";
import { stringsEqualTo, withoutComments, wordsIn } from "./helpers/source-words.ts";

const ROOT = resolve(import.meta.dir, "..");

interface Rule {
  /** Files the row is about: the longest matching row holds. */
  from: string;
  /** Folders and modules they may import besides their own folder. */
  may: readonly string[];
  because: string;
}

/** Folders and modules that every feature may import. Other rooms are in its row, with a reason. */
const FACES = [
  "src/core/",
  "src/stream/",
  "src/http/",
  "src/feature/",
  "src/cli/command.ts",
  "src/config/section.ts",
  "src/gateway/seams.ts",
  "src/keeper/seams.ts",
  "src/service/seams.ts",
  "src/ledger/keys/option.ts",
  "@sinclair/typebox",
  "bun",
  "node:",
] as const;

const RULES: readonly Rule[] = [
  { from: "src/core/", may: ["node:crypto"], because: "the vocabulary is what everything else leans on" },
  {
    from: "src/core/column.ts",
    may: ["src/core/", "@sinclair/typebox"],
    because: "the value of a column has the type of its schema",
  },
  {
    from: "src/stream/",
    may: ["src/core/", "node:buffer"],
    because: "bytes and frames know no format and no gateway",
  },
  {
    from: "src/formats/shared/",
    may: ["src/core/", "src/stream/", "@sinclair/typebox"],
    because: "what all formats share knows none of them",
  },
  {
    from: "src/formats/chat-completions/",
    may: [
      "src/core/",
      "src/stream/",
      "src/formats/shared/",
      "@sinclair/typebox",
      "node:crypto",
      "node:buffer",
    ],
    because: "a language knows no other language, no company and no gateway",
  },
  {
    from: "src/formats/messages/",
    may: [
      "src/core/",
      "src/stream/",
      "src/formats/shared/",
      "@sinclair/typebox",
      "node:crypto",
      "node:buffer",
    ],
    because: "a language knows no other language, no company and no gateway",
  },
  {
    from: "src/formats/responses/",
    may: ["src/core/", "src/stream/", "src/formats/shared/", "@sinclair/typebox"],
    because: "a language knows no other language, no company and no gateway",
  },
  {
    from: "src/formats/gemini/",
    may: ["src/core/", "src/stream/", "src/formats/shared/", "@sinclair/typebox"],
    because: "a language knows no other language, no company and no gateway",
  },
  {
    from: "src/formats/ollama/",
    may: ["src/core/", "src/stream/", "src/formats/shared/", "@sinclair/typebox"],
    because: "a language knows no other language, no company and no gateway",
  },
  {
    from: "src/formats/converse/",
    may: ["src/core/", "src/stream/", "src/formats/shared/", "@sinclair/typebox"],
    because: "a language knows no other language, no company and no gateway",
  },
  {
    from: "src/embeddings/",
    may: ["src/core/", "src/stream/", "src/formats/shared/"],
    because: "a dialect of embeddings knows no format and no gateway",
  },
  {
    from: "src/kinds/",
    may: ["src/core/", "src/stream/", "src/formats/shared/", "@sinclair/typebox"],
    because: "a kind of models knows no format of conversations and no gateway",
  },
  {
    from: "src/http/",
    may: ["src/core/", "bun", "node:buffer", "node:net", "node:stream", "node:tls", "node:zlib"],
    because: "a client of HTTP/1.1 knows nothing of what its answers mean",
  },
  {
    from: "src/gateway/",
    may: ["src/core/", "src/stream/", "src/http/", "node:crypto"],
    because: "the walk meets formats and providers only as values, and knows no HTTP framework",
  },
  {
    from: "src/ledger/",
    may: ["src/core/", "node:crypto", "node:net"],
    because: "prices, charges and shares are arithmetic: no disk, no socket to a store, no gateway",
  },
  {
    from: "src/ledger/columns.ts",
    may: ["src/core/", "src/ledger/", "@sinclair/typebox"],
    because: "a column is declared with its schema",
  },
  {
    from: "src/ledger/keys/option",
    may: ["src/core/", "src/ledger/", "@sinclair/typebox"],
    because: "an option of keys is declared with its schema",
  },
  {
    from: "src/ledger/prices/",
    may: ["src/core/", "src/ledger/", "node:crypto", "node:fs"],
    because: "prices are arithmetic over one file, the price book in the binary",
  },
  {
    from: "src/operator/",
    may: ["src/core/", "src/ledger/", "@sinclair/typebox"],
    because:
      "the shapes of the operator's API are data, and know neither who computes an answer nor who reads it",
  },
  {
    from: "src/admin/",
    may: [
      "src/core/",
      "src/ledger/",
      "src/operator/",
      "src/keeper/",
      "src/process/listeners.ts",
      "@sinclair/typebox",
      "node:",
    ],
    because:
      "the operator's API reads and changes the books, which do not know it; it knows no format and no gateway",
  },
  {
    from: "src/console/",
    may: ["src/operator/", "preact"],
    because: "the page runs in the browser, and knows weir by the types of the admin API alone",
  },
  {
    from: "src/console/own-pages.ts",
    may: ["src/console/", "src/features/"],
    because: "the list of the pages of features, which a build shortens",
  },
  {
    from: "src/features/resend/console/",
    may: ["src/console/", "src/features/resend/", "src/operator/", "preact"],
    because: "a page of a feature is made of the parts of the console, and knows weir by types alone",
  },
  {
    from: "src/features/sessions/console/",
    may: ["src/console/", "src/features/sessions/", "src/operator/", "preact"],
    because: "a page of a feature is made of the parts of the console, and knows weir by types alone",
  },
  {
    from: "src/features/runs/console/",
    may: ["src/console/", "src/features/runs/", "preact"],
    because: "a page of a feature is made of the parts of the console, and knows weir by types alone",
  },
  {
    from: "src/features/tools/console/",
    may: ["src/console/", "src/features/tools/", "preact"],
    because: "a page of a feature is made of the parts of the console, and knows weir by types alone",
  },
  {
    from: "src/admin/console/",
    may: ["src/admin/", "src/ledger/", "src/operator/", "src/console/index.html", "node:"],
    because: "the listener serves the console as files, and lets its users in",
  },
  {
    from: "src/keeper/",
    may: [
      "src/core/",
      "src/ledger/",
      "src/operator/",
      "src/process/",
      "bun",
      "node:crypto",
      "node:path",
      "node:os",
      "bun:sqlite",
      "node:fs",
      "node:net",
      "node:worker_threads",
    ],
    because:
      "the keeper stores what it is given, computes the shapes of reports, and knows no format, no gateway and no API",
  },
  {
    from: "src/server/",
    may: [
      "src/gateway/",
      "src/core/",
      "src/stream/",
      "src/documents/texts.ts",
      "src/ledger/keys/addresses.ts",
      "src/process/listeners.ts",
      "elysia",
      "@sinclair/typebox",
      "node:crypto",
      "node:buffer",
      "node:fs",
      "node:os",
      "node:net",
    ],
    because: "Elysia lives here and only here",
  },
  {
    from: "src/process/",
    may: ["package.json", "bun", "node:"],
    because: "how processes and threads of weir start, end and talk does not depend on what they do",
  },
  {
    from: "src/service/",
    may: ["src/core/", "src/process/", "bun"],
    because: "how workers ask the process of a feature does not depend on what it does",
  },
  {
    from: "src/documents/",
    may: ["node:fs", "node:path"],
    because: "the documents are texts, which know nothing of what they describe",
  },
  {
    from: "src/config/",
    may: ["src/core/", "src/ledger/", "@sinclair/typebox", "yaml", "node:"],
    because: "config is read once and passed on as a value",
  },
  {
    from: "src/feature/",
    may: [
      "src/admin/operation.ts",
      "src/cli/command.ts",
      "src/config/references.ts",
      "src/config/section.ts",
      "src/core/call-header.ts",
      "src/core/column.ts",
      "src/core/metric.ts",
      "src/ledger/keys/option.ts",
      "src/gateway/seams.ts",
      "src/keeper/seams.ts",
      "src/service/seams.ts",
    ],
    because: "a manifest joins the types of the seams, each of which is in the room that runs it",
  },
  {
    from: "src/features/",
    may: FACES,
    because: "a feature needs a reason of its own to import more of a room",
  },
  {
    from: "src/features/batches/",
    may: [
      ...FACES,
      "src/admin/",
      "src/cli/",
      "src/config/",
      "src/gateway/lanes/carrier.ts",
      "src/gateway/request-size.ts",
      "src/keeper/store/",
      "src/ledger/",
      "src/operator/",
      "src/process/exit.ts",
      "src/run/assemble.ts",
      "src/run/declaration.ts",
      "src/run/formats.ts",
      "src/run/home.ts",
      "src/run/weir.ts",
    ],
    because:
      "a batch has rows and a cost, which is known from the size of its lines; its results are read in every format, and a provider's own batches carry its lines; its command starts a gateway",
  },
  {
    from: "src/features/batches/console/",
    may: ["src/console/", "src/features/batches/", "preact"],
    because: "a page of a feature is made of the parts of the console, and knows weir by types alone",
  },
  {
    from: "src/features/alerts/",
    may: [
      ...FACES,
      "src/admin/",
      "src/cli/",
      "src/config/",
      "src/keeper/store/",
      "src/ledger/",
      "src/operator/",
      "src/process/version.ts",
      "node:os",
    ],
    because:
      "alerts are made in the keeper of the records of calls, for the receivers of the config, and operators see what became of them",
  },
  {
    from: "src/features/alerts/console/",
    may: ["src/console/", "src/features/alerts/", "preact"],
    because: "a page of a feature is made of the parts of the console, and knows weir by types alone",
  },
  {
    from: "src/features/capture/",
    may: [
      ...FACES,
      "src/admin/",
      "src/cli/books/",
      "src/config/",
      "src/gateway/",
      "src/keeper/seams.ts",
      "src/keeper/settings.ts",
      "src/keeper/store/",
      "src/ledger/session-hash.ts",
      "src/operator/",
      "src/run/formats.ts",
    ],
    because: "it records calls at the seam of the gateway, into a file of the keeper that the operator reads",
  },
  {
    from: "src/features/drill/",
    may: [...FACES, "src/cli/clients/", "src/config/load.ts", "src/run/weir.ts"],
    because: "a drill starts a gateway with a plugin of its own, and points a client at it",
  },
  {
    from: "src/features/exec/",
    may: [
      ...FACES,
      "src/cli/",
      "src/config/",
      "src/gateway/routing/registry.ts",
      "src/ledger/keys/form.ts",
      "src/run/",
    ],
    because: "exec serves as weir serve does, with a client that it points at the gateway",
  },
  {
    from: "src/features/files/",
    may: [...FACES, "src/admin/", "src/cli/", "src/config/sections/", "src/keeper/store/", "src/operator/"],
    because: "rows of files are in the store of the books, where operators see them",
  },
  {
    from: "src/features/identity/",
    may: [
      ...FACES,
      "src/admin/",
      "src/auth/",
      "src/cli/",
      "src/config/",
      "src/gateway/credentials.ts",
      "src/keeper/store/",
      "src/ledger/",
      "src/operator/",
    ],
    because:
      "tokens name callers with paths and scopes as keys have, and the operator manages people beside keys",
  },
  {
    from: "src/features/guards/",
    may: [
      ...FACES,
      "src/admin/",
      "src/auth/",
      "src/cli/terminal.ts",
      "src/config/",
      "src/gateway/delivery/",
      "src/gateway/lanes/",
      "src/gateway/plugins/kind-programs.ts",
      "src/gateway/seams.ts",
      "src/keeper/record/",
      "src/keeper/seams.ts",
      "src/keeper/store/",
      "src/ledger/keys/option.ts",
      "src/ledger/record.ts",
      "src/operator/",
      "src/run/weir.ts",
      "src/stream/",
    ],
    because:
      "guards change requests and answers in the bytes of the client, as answers are delivered, ask services and models of providers, and the proof starts a gateway",
  },
  {
    from: "src/features/guards/console/",
    may: ["src/console/", "src/features/guards/", "preact"],
    because: "a page of a feature is made of the parts of the console, and knows weir by types alone",
  },
  {
    from: "src/features/model-endings/",
    may: [...FACES, "src/config/"],
    because: "it names the models of the config with their places",
  },
  {
    from: "src/features/realtime/",
    may: [
      ...FACES,
      "src/config/sections/",
      "src/gateway/plugins/call-view.ts",
      "src/gateway/sessions.ts",
      "src/kinds/realtime/",
    ],
    because: "the gateway opens and books a session, and programs hold it; the kind knows its events",
  },
  {
    from: "src/features/paid-once/",
    may: [
      ...FACES,
      "src/config/sections/",
      "src/stream/sse.ts",
      "src/gateway/access.ts",
      "src/gateway/delivery/",
      "src/gateway/lanes/",
      "src/gateway/plugins/late-hooks.ts",
      "src/gateway/seams.ts",
      "src/gateway/types.ts",
      "src/keeper/seams.ts",
    ],
    because: "paid once keeps answers as they are delivered, and reads them on when their client has left",
  },
  {
    from: "src/features/prompt-cache/",
    may: [...FACES, "src/admin/", "src/gateway/seams.ts", "src/keeper/", "src/ledger/", "src/operator/"],
    because:
      "its tables are in the store of the books, its rows follow from the records of calls, and the admin API reads them",
  },
  {
    from: "src/features/probe/",
    may: [
      ...FACES,
      "src/cli/confirm.ts",
      "src/config/",
      "src/gateway/routing/",
      "src/ledger/",
      "src/run/assemble.ts",
    ],
    because: "a probe asks a host as a client would, and finds providers and prices as a gateway would",
  },
  {
    from: "src/features/reconcile/",
    may: [...FACES, "src/cli/"],
    because: "its command asks the admin API and prints, as other commands of the books do",
  },
  {
    from: "src/features/rehearse/",
    may: [
      ...FACES,
      "src/cli/",
      "src/config/",
      "src/formats/shared/session.ts",
      "src/formats/shared/session.ts",
      "src/formats/shared/text-places.ts",
      "src/gateway/",
      "src/ledger/",
      "src/run/",
      "src/server/key-scope.ts",
      "src/process/version.ts",
      "src/server/request-body.ts",
      "src/server/url-address.ts",
      "src/tapes/file.ts",
    ],
    because:
      "a rehearsal takes the first step of a call as a gateway does, with the keys and prices of a config, and an outline follows the tables of texts",
  },
  {
    from: "src/features/resend/",
    may: [...FACES, "src/admin/", "src/operator/"],
    because: "it reads captured calls for the admin API, and sends them to the gateway by way of it",
  },
  {
    from: "src/features/sessions/",
    may: [...FACES, "src/admin/", "src/keeper/", "src/ledger/", "src/operator/"],
    because: "it reads the sessions and calls of the store for the admin API",
  },
  {
    from: "src/features/witness/",
    may: [
      ...FACES,
      "src/admin/",
      "src/cli/",
      "src/config/",
      "src/gateway/lanes/",
      "src/keeper/store/",
      "src/ledger/money.ts",
      "src/operator/",
      "src/process/version.ts",
    ],
    because:
      "a look asks as a client does and sees both sides of its calls; its rows are in the store, and operators read them beside what weir itself was",
  },
  {
    from: "src/features/rehearse/page/",
    may: [
      ...FACES,
      "src/admin/",
      "src/config/",
      "src/features/rehearse/",
      "src/ledger/keys/form.ts",
      "src/operator/",
      "src/process/program.ts",
    ],
    because: "the admin API runs the command in a process of its own, on a config that it has looked through",
  },
  {
    from: "src/features/rehearse/console/",
    may: ["src/console/", "src/features/rehearse/", "preact"],
    because: "a page of a feature is made of the parts of the console, and knows weir by types alone",
  },
  {
    from: "src/features/what-if/",
    may: [...FACES, "src/cli/"],
    because: "its command asks the admin API and prints, as other commands of the books do",
  },
  {
    from: "src/features/tape/",
    may: [
      ...FACES,
      "src/cli/",
      "src/config/",
      "src/gateway/",
      "src/process/version.ts",
      "src/run/home.ts",
      "src/tapes/",
    ],
    because: "record and replay serve as weir serve does, with a tape around the calls of clients",
  },
  {
    from: "src/features/runs/",
    may: [
      ...FACES,
      "src/admin/",
      "src/cli/",
      "src/config/",
      "src/gateway/",
      "src/ledger/money.ts",
      "src/operator/",
      "src/process/version.ts",
      "src/run/formats.ts",
      "src/run/home.ts",
      "src/tapes/",
    ],
    because: "a fork serves as weir serve does, with a tape in front of models and tools",
  },
  {
    from: "src/tapes/",
    may: ["src/core/", "src/stream/", "src/gateway/", "node:fs"],
    because: "a tape is a file of recorded calls, and knows no command and no config",
  },
  {
    from: "src/features/response-cache/",
    may: [...FACES, "src/config/sections/kinds.ts", "src/gateway/seams.ts", "plugins/response-cache/"],
    because: "the shipped plugin is the cache, which may be a file in the plugin folder as well",
  },
  {
    from: "src/features/response-sockets/",
    may: [...FACES, "src/config/sections/kinds.ts"],
    because: "it frames the requests and events of one format",
  },
  {
    from: "src/features/secrets/",
    may: [...FACES, "src/admin/", "src/auth/", "src/cli/", "src/config/", "src/operator/"],
    because:
      "secrets are part of the config, come from stores at which weir signs in, and operators see how old they are",
  },
  {
    from: "src/features/tools/",
    may: [
      ...FACES,
      "src/admin/",
      "src/auth/",
      "src/cli/",
      "src/config/",
      "src/gateway/",
      "src/keeper/store/",
      "src/ledger/",
      "src/operator/",
      "src/process/version.ts",
      "src/run/formats.ts",
      "src/service/groups.ts",
      "src/tapes/file.ts",
    ],
    because: "weir runs tools for models, so it meets calls, and operators see servers and approve pins",
  },
  {
    from: "src/features/traces/",
    may: [...FACES, "src/config/", "src/ledger/", "src/process/version.ts"],
    because: "spans are made in the keeper of the records of calls, for the collector of the config",
  },
  {
    from: "src/features/import/",
    may: [
      ...FACES,
      "src/config/",
      "src/gateway/routing/registry.ts",
      "src/run/assemble.ts",
      "plugins/",
      "yaml",
    ],
    because: "the config of another gateway becomes weir.yaml, which is loaded as a gateway would load it",
  },
  {
    from: "src/external-plugins/",
    may: [
      "src/core/",
      "src/gateway/routing/registry.ts",
      "src/plugin.ts",
      "src/process/program.ts",
      "src/process/reexec.ts",
      "node:",
    ],
    because: "what lies in the plugin folder is looked at, rehearsed and imported, and nothing else",
  },
  {
    from: "src/build/",
    may: [
      "src/admin/console/bundle.ts",
      "src/console/index.html",
      "src/core/",
      "src/cli/commands.ts",
      "src/feature/",
      "src/features.ts",
      "src/cli/completion.ts",
      "src/cli/man.ts",
      "src/documents/markdown.ts",
      "src/process/version.ts",
      "bun",
      "terser",
      "node:",
    ],
    because: "a build makes the binary, and a release packs it with texts made from the command table",
  },
  {
    from: "plugins/",
    may: ["weir"],
    because: "a shipped plugin has no advantage over a dropped one",
  },
  {
    from: "src/auth/",
    may: ["src/core/", "node:"],
    because: "how a request is authorized does not depend on the gateway that sends it",
  },
  {
    from: "src/auth/public-request.ts",
    may: ["src/core/", "src/ledger/keys/addresses.ts", "node:"],
    because: "which addresses are public is arithmetic over blocks of them",
  },
  {
    from: "src/plugin.ts",
    may: [
      "src/core/",
      "src/auth/",
      "src/stream/framing.ts",
      "src/formats/shared/resource-name.ts",
      "src/formats/shared/foreign-fields.ts",
      "src/formats/shared/upstream-error.ts",
    ],
    because: "the public face shows the vocabulary, and the helpers that plugins need",
  },
];

/** `src/run` puts the parts of a gateway together; the command line inspects all of them. */
const FREE = /^src\/(cli\/|run\/|[a-z-]+\.ts$)/;

/** Tests of a feature are in its folder, and import the helpers of all tests. */
const TESTS = /^src\/features\/[^/]+\/test\//;

const files = [...new Glob("{src,plugins}/**/*.{ts,tsx}").scanSync(ROOT)]
  .filter((file) => !TESTS.test(file))
  .sort();

async function importsOf(file: string): Promise<string[]> {
  const source = await Bun.file(join(ROOT, file)).text();
  const named = [...source.matchAll(/^\s*(?:import|export)\s[^;]*?from\s+"([^"]+)"/gms)].map(
    (match) => match[1]!,
  );
  const bare = [...source.matchAll(/^\s*import\s+"([^"]+)"/gm)].map((match) => match[1]!);
  const lazy = [...source.matchAll(/\bimport\(\s*"([^"]+)"/g)].map((match) => match[1]!);
  return [...named, ...bare, ...lazy].map((name) =>
    name.startsWith(".") ? relative(ROOT, join(ROOT, dirname(file), name)) : name,
  );
}

function ruleFor(file: string): Rule | undefined {
  const rows = RULES.filter((rule) => file.startsWith(rule.from));
  return rows.sort((a, b) => b.from.length - a.from.length)[0];
}

test("every source file is under a rule or one that puts parts together", () => {
  expect(files.length).toBeGreaterThan(30);
  expect(files.filter((file) => !ruleFor(file) && !FREE.test(file))).toEqual([]);
});

test("imports go only where the table lets them", async () => {
  const broken: string[] = [];
  for (const file of files) {
    const rule = ruleFor(file);
    if (!rule) continue;
    for (const name of await importsOf(file)) {
      const allowed =
        name.startsWith(rule.from) || rule.may.some((entry) => name === entry || name.startsWith(entry));
      if (!allowed) broken.push(`${file} imports ${name}, but ${rule.because}`);
    }
  }
  expect(broken).toEqual([]);
});

test("the console imports from the rest of weir types alone", async () => {
  const values: string[] = [];
  for (const file of files.filter((one) => one.startsWith("src/console/")))
    for (const [, from] of (await sourceOf(file)).matchAll(
      /^\s*(?:import|export)\s(?!type\s)[^;]*?from\s+"((?:\.\.\/)+operator\/[^"]+|@sinclair[^"]+)"/gms,
    ))
      values.push(`${file} imports ${from}`);
  expect(values).toEqual([]);
});

test("nothing of the console is imported by another folder but its document", async () => {
  const importing: string[] = [];
  for (const file of files.filter((one) => !one.startsWith("src/console/")))
    for (const name of await importsOf(file))
      if (
        name.startsWith("src/console/") &&
        name !== "src/console/index.html" &&
        !/^src\/features\/[^/]+\/console\//.test(file)
      )
        importing.push(`${file} imports ${name}`);
  expect(importing).toEqual([]);
});

test("the table itself can fail", async () => {
  expect(ruleFor("src/formats/messages/index.ts")?.may).not.toContain("src/formats/chat-completions/");
  expect(await importsOf("src/plugin.ts")).toContain("src/core/plugin.ts");
});

test("Elysia is imported by the server alone, and config is read by those who put parts together", async () => {
  for (const file of files) {
    const names = await importsOf(file);
    if (!file.startsWith("src/server/"))
      expect(names.filter((name) => name.startsWith("elysia"))).toEqual([]);
    if (!/^src\/(config|features?)\//.test(file) && !FREE.test(file))
      expect(names.filter((name) => name.startsWith("src/config/"))).toEqual([]);
  }
});

test("no file imports a file that imports it, also over others and for types alone", async () => {
  const imports = new Map<string, string[]>();
  for (const file of files) imports.set(file, await importsOf(file));
  expect(circlesOf(imports)).toEqual([]);
});

test("a circle is found", () => {
  const imports = new Map([
    ["a", ["b", "node:fs"]],
    ["b", ["c"]],
    ["c", ["a"]],
    ["d", ["a"]],
  ]);
  expect(circlesOf(imports)).toEqual([["a", "b", "c"]]);
});

/** Groups of files each of which reaches each other by imports, sorted. */
function circlesOf(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const reach = new Map([...imports.keys()].map((file) => [file, reachedFrom(file, imports)]));
  const circles = new Map<string, string[]>();
  for (const [file, reached] of reach) {
    const circle = [...reached].filter((other) => reach.get(other)?.has(file)).sort();
    if (reached.has(file)) circles.set(circle.join(), circle);
  }
  return [...circles.values()];
}

function reachedFrom(start: string, imports: ReadonlyMap<string, readonly string[]>): Set<string> {
  const reached = new Set<string>();
  const open = [start];
  for (let file = open.pop(); file !== undefined; file = open.pop())
    for (const next of imports.get(file) ?? [])
      if (!reached.has(next)) {
        reached.add(next);
        open.push(next);
      }
  return reached;
}

test("only the entry and the build import the list of features, and no room imports a feature", async () => {
  const importing: string[] = [];
  for (const file of files.filter((one) => !/^src\/(features\/|features\.ts$)/.test(one)))
    for (const name of await importsOf(file)) {
      const isList = name === "src/features.ts" && /^src\/(main\.ts$|build\/)/.test(file);
      const isType =
        name.startsWith("src/feature/") &&
        /^src\/(main\.ts$|build\/|cli\/(index|commands)\.ts$|feature\/)/.test(file);
      const isPage =
        file === "src/console/own-pages.ts" && /^src\/features\/[^/]+\/console\/page\.ts$/.test(name);
      if (/^src\/features?(\/|\.ts$)/.test(name) && !isList && !isType && !isPage)
        importing.push(`${file} imports ${name}`);
    }
  expect(importing).toEqual([]);
  expect(await sourceOf("src/features.ts")).toMatch(
    /^\/\*\* .* \*\/\n(export \{ \w+ \} from "\.\/features\/[a-z0-9-]+\/index\.ts";\n)+$/,
  );
});

test("every feature has a folder with a manifest that imports no code, a README and a line", async () => {
  const folders = [
    ...new Set([...new Glob("src/features/*/**").scanSync(ROOT)].map((file) => file.split("/")[2]!)),
  ];
  const lines = [...(await sourceOf("src/features.ts")).matchAll(/"\.\/features\/([a-z0-9-]+)\/index\.ts"/g)];
  expect(lines.map(([, name]) => name!).sort()).toEqual(folders.sort());
  const wrong: string[] = [];
  for (const name of folders) {
    const folder = `src/features/${name}`;
    if (!(await Bun.file(join(ROOT, folder, "README.md")).exists())) wrong.push(`${folder} has no README.md`);
    if (!(await sourceOf(`${folder}/index.ts`)).includes(`name: "${name}"`))
      wrong.push(`${folder}/index.ts does not say name: "${name}"`);
    for (const imported of await eagerImportsOf(`${folder}/index.ts`))
      if (!MANIFEST_MAY.some((one) => imported.startsWith(one)) && !DECLARATIONS.test(imported))
        wrong.push(`${folder}/index.ts imports ${imported}, which is code that runs`);
  }
  expect(wrong).toEqual([]);
});

/** Modules without effects: every start evaluates what a manifest imports. */
const MANIFEST_MAY = [
  "src/feature/",
  "src/cli/command.ts",
  "src/config/section.ts",
  "src/config/sections/kinds.ts",
  "@sinclair/typebox",
] as const;
/** Declarations beside a manifest, which are data as the manifest is. */
const DECLARATIONS =
  /^src\/features\/[a-z0-9-]+\/(section|columns|headers|metrics|key-options|declarations|errors|flags)\.ts$/;

/** Imports that the evaluation of a file needs: no types, and nothing that is imported later. */
async function eagerImportsOf(file: string): Promise<string[]> {
  const source = (await sourceOf(file))
    .replace(/^\s*(?:import|export)\s+type\s[^;]*;/gm, "")
    .replace(/\bimport\([^)]*\)/g, "");
  return [...source.matchAll(/^\s*(?:import|export)\s[^;]*?from\s+"([^"]+)"/gms)].map(([, name]) =>
    name!.startsWith(".") ? relative(ROOT, join(ROOT, dirname(file), name!)) : name!,
  );
}

test("no test outside of a feature imports it, so that types hold without its folder", async () => {
  const ties: string[] = [];
  for (const file of new Glob("test/**/*.ts").scanSync(ROOT))
    for (const name of await importsOf(file))
      if (name.startsWith("src/features/")) ties.push(`${file} imports ${name}`);
  expect(ties).toEqual([]);
});

test("no feature imports another one", async () => {
  const ties: string[] = [];
  for (const file of files.filter((one) => one.startsWith("src/features/")))
    for (const name of await importsOf(file)) {
      const [, , own] = file.split("/");
      const [, rooms, other, ...rest] = name.split("/");
      if (rooms === "features" && other !== own && rest.join("/") !== "port.ts")
        ties.push(`${file} imports ${name}`);
    }
  expect(ties).toEqual([]);
});

/** Names of features that mean something else in a file. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  // A word of JavaScript.
  "src/build/feature.ts": ["import"],
  // A table of the store.
  "src/console/pages/store/store-panel.tsx": ["record"],
  // A place around calls.
  "src/gateway/seams.ts": ["cache", "capture", "tape"],
  // A header that the interface of plugins lets every plugin add.
  "src/gateway/plugins/call-view.ts": ["x-weir-cache"],
  // A folder of the AWS CLI.
  "src/auth/aws/sso.ts": ["cache"],
  // The page about the prompt caches of providers, and members of their requests.
  "src/console/shell/pages.ts": ["cache"],
  "src/formats/converse/upstream/caching.ts": ["cache"],
  "src/formats/converse/upstream/messages.ts": ["cache"],
  "src/formats/messages/upstream/content.ts": ["cache"],
  "src/formats/shared/prompt-cache.ts": ["cache"],
  "src/kinds/cache/index.ts": ["cache"],
  "src/kinds/cache/request.ts": ["tools"],
  "src/formats/gemini/interactions/facts.ts": ["tools"],
  "src/formats/gemini/interactions/request.ts": ["tools"],
  // `npm exec` runs a client.
  "src/cli/clients/find.ts": ["exec"],
  // A tool of a client.
  "src/formats/responses/tool-kinds.ts": ["exec"],
};

test("no room contains the name of a feature, of its section, its columns, its headers or its commands", async () => {
  const names = FEATURES.flatMap(({ name, section, columns = [], headers = [], commands = [] }) => [
    name,
    ...(section ? [section.name] : []),
    ...columns.map((column) => column.name),
    ...headers.map((header) => header.name),
    ...commands.map((command) => command.name),
  ]);
  const naming: string[] = [];
  const others = new Map(Object.entries(OTHER_NAMES).map(([file, list]) => [file, [...list]]));
  for (const path of new Glob("src/features/*/test/other-names.json").scanSync(ROOT))
    for (const [file, list] of Object.entries((await Bun.file(join(ROOT, path)).json()) as object))
      others.set(file, [...(others.get(file) ?? []), ...(list as string[])]);
  for (const file of files.filter((one) => /^src\/(?!features(\/|\.ts$))/.test(one)))
    for (const name of stringsEqualTo([...new Set(names)], await sourceOf(file)))
      if (!others.get(file)?.includes(name)) naming.push(`${file} names ${name}`);
  expect(naming).toEqual([]);
});

/** The id of a format is the name of its folder. */
const FORMAT_IDS = [
  ...new Set([...new Glob("src/formats/*/index.ts").scanSync(ROOT)].map((file) => file.split("/")[2]!)),
].sort();

/**
 * Files that may name formats: each format itself, what puts them together, the command line, the probe and the playground of
 * the console, the proof of guards and the looks of the witness, which speak as a client, the import of configs and prices and the names for traces, where a provider has the
 * name of a format, the sections of the config that have such a name, the connections that have one format, and the batch APIs of providers, which take requests of certain formats.
 */
const MAY_NAME_FORMATS =
  /^src\/(formats\/|config\/sections\/requests\.ts$|cli\/|console\/|features\/(batches\/native|exec|guards\/prove|import|probe|response-sockets|witness\/look)\/|features\/[a-z-]+\/section\.ts$|ledger\/prices\/import\/|features\/traces\/conventions\.ts$|run\/(assemble|formats)\.ts$|plugin\.ts$)/;

/** Ids of other formats that mean something else in a file: `messages` is a member of a chat-completions request too. */
const OTHER_MEANING: Readonly<Record<string, string>> = {
  "src/formats/chat-completions/client/request.ts": "messages",
  "src/formats/chat-completions/client/facts.ts": "messages",
  "src/formats/ollama/client/request.ts": "messages",
  "src/formats/ollama/client/facts.ts": "messages",
};

test("no file outside of the formats names a format", async () => {
  expect(FORMAT_IDS).toEqual(["chat-completions", "converse", "gemini", "messages", "ollama", "responses"]);
  const naming: string[] = [];
  for (const file of files.filter((one) => one.startsWith("src/") && !MAY_NAME_FORMATS.test(one)))
    for (const id of stringsEqualTo(FORMAT_IDS, await sourceOf(file))) naming.push(`${file} names ${id}`);
  expect(naming).toEqual([]);
});

test("no format names another one, and what they share names none", async () => {
  const naming: string[] = [];
  for (const file of files.filter((one) => one.startsWith("src/formats/"))) {
    const others = FORMAT_IDS.filter(
      (id) => !file.startsWith(`src/formats/${id}/`) && OTHER_MEANING[file] !== id,
    );
    for (const id of stringsEqualTo(others, await sourceOf(file))) naming.push(`${file} names ${id}`);
  }
  expect(naming).toEqual([]);
});

test("every format has the files that src/formats/README.md lists", async () => {
  const readme = await sourceOf("src/formats/README.md");
  const section = /## Files of a format\n([^]*?)\n### /.exec(readme)![1]!;
  const namesIn = (text: string) => [...text.matchAll(/`([a-z/-]+\.ts)`/g)].map((match) => match[1]!);
  const cast = [...new Set(namesIn(section))];
  const absentSomewhere = namesIn(/nothing of their own for([^]*?)\. What/.exec(section)![1]!);
  expect(cast.length).toBeGreaterThan(25);
  // A format may have one codec only; the facts about models are for the upstream codec.
  const has = (id: string, side: string) =>
    files.some((file) => file.startsWith(`src/formats/${id}/${side}/`));
  const absent = FORMAT_IDS.flatMap((id) =>
    cast
      .filter((name) => has(id, "upstream") || !/^(upstream\/|models\.ts)/.test(name))
      .filter((name) => has(id, "client") || !/^(client\/|schema\.ts)/.test(name))
      .map((name) => ({ name, file: `src/formats/${id}/${name}` }))
      .filter(({ file }) => !files.includes(file)),
  );
  expect(absent.filter(({ name }) => !absentSomewhere.includes(name))).toEqual([]);
  // A role is one that several formats have, and some do without.
  const having = (name: string) => FORMAT_IDS.filter((id) => files.includes(`src/formats/${id}/${name}`));
  expect(absentSomewhere.filter((name) => having(name).length < 2)).toEqual([]);
  expect(absentSomewhere.filter((name) => absent.every((one) => one.name !== name))).toEqual([]);
});

test("no file of a format only passes on what another file exports", async () => {
  const passing: string[] = [];
  for (const file of files.filter((one) => one.startsWith("src/formats/")))
    if (/^(?:\s*export\s[^;]*\sfrom\s+"[^"]+";)+\s*$/.test(await codeOf(file))) passing.push(file);
  expect(passing).toEqual([]);
});

/** Members and headers of single wire formats. Their meaning belongs to the codec of the format. */
const VENDOR_WORDS = [
  "[DONE]",
  "anthropic-*",
  "openai-*",
  "budget_tokens",
  "cache_control",
  "completion_tokens",
  "content_block*",
  "finish_reason",
  "function_call",
  "image_url",
  "input_tokens",
  "max_completion_tokens",
  "message_start",
  "output_config",
  "output_tokens",
  "parallel_tool_calls",
  "prompt_cache_key",
  "prompt_tokens",
  "reasoning_content",
  "reasoning_effort",
  "redacted_thinking",
  "response_format",
  "safety_identifier",
  "stop_reason",
  "stop_sequences",
  "stream_options",
  "thinking",
  "tool_calls",
  "tool_choice",
  "tool_result",
  "tool_use",
  "user_id",
];

/** Values of options that plugin authors and operators write. */
const OPTION_VALUES: Readonly<Record<string, readonly string[]>> = {
  // `Traits.userField`, `MaxTokensField`.
  "src/core/traits.ts": ["max_completion_tokens", "safety_identifier"],
  "src/external-plugins/provider-tables.ts": ["max_completion_tokens", "safety_identifier"],
  // What one program reads, whose protocol the file is about.
  "src/features/identity/claude-code/labels.ts": ["anthropic-*"],
  "src/features/identity/claude-code/told.ts": ["anthropic-*"],
  // The protocol of tools has the same words.
  "src/features/tools/sampling/request.ts": ["tool_result", "tool_use"],
  "src/features/tools/sampling/result.ts": ["tool_use"],
  // Parts of words that an outline keeps.
  "src/features/rehearse/outline/vocabulary.ts": ["thinking"],
  // The usage of a batch in the object of OpenAI's clients.
  "src/features/batches/shapes/openai.ts": ["input_tokens", "output_tokens"],
  // The usage of a response that asked no provider.
  "src/features/response-sockets/events.ts": ["input_tokens", "output_tokens"],
  // Names of attributes in traces.
  "src/features/traces/conventions.ts": ["input_tokens", "output_tokens"],
  // Names of rules for secrets.
  "src/features/guards/detect/secrets/import.ts": ["openai-*"],
  // What changes the meaning of a body in a provider's own batch.
  "src/features/batches/native/native-run.ts": ["anthropic-*", "stream_options"],
  // `providers.NAME.maxTokensField`.
  "src/config/sections/providers.ts": ["max_completion_tokens"],
  // Descriptions of traits, which name the members that they are about.
  "src/config/sections/traits.ts": [
    "cache_control",
    "parallel_tool_calls",
    "prompt_cache_key",
    "reasoning_effort",
    "response_format",
    "safety_identifier",
    "stream_options",
    "thinking",
    "tool_choice",
  ],
};

test("no file outside of the formats, the dialects of embeddings and of kinds, the command line, the probe, the proof of guards, the import and the console knows a member or header of a single vendor", async () => {
  const knowing: string[] = [];
  for (const file of files.filter((one) =>
    /^src\/(?!formats\/|embeddings\/|kinds\/|cli\/|console\/|features\/(guards\/prove|import|probe|witness\/look)\/)/.test(
      one,
    ),
  ))
    for (const word of wordsIn(VENDOR_WORDS, await sourceOf(file)))
      if (!OPTION_VALUES[file]?.includes(word)) knowing.push(`${file} knows ${word}`);
  expect(knowing).toEqual([]);
});

test("every exception of these rules is needed", async () => {
  for (const [file, word] of Object.entries(OTHER_MEANING))
    expect(stringsEqualTo([word], await sourceOf(file))).not.toEqual([]);
  // A weir without a feature has no files of it.
  const isThere = (file: string) => !file.startsWith("src/features/") || files.includes(file);
  for (const [file, words] of Object.entries(OPTION_VALUES).filter(([file]) => isThere(file)))
    expect(wordsIn(words, await sourceOf(file))).toEqual([...words]);
});

test("the id of a format is found in a string of any quotes, and not in comments and other words", () => {
  const found = (source: string) => stringsEqualTo(["chat-completions", "messages"], source);
  expect(found('const id = "messages";')).toEqual(["messages"]);
  expect(found("if (format === 'chat-completions') {}")).toEqual(["chat-completions"]);
  expect(found("speaks[`messages`]; const url = 'http://host'; // messages")).toEqual(["messages"]);
  expect(found('/** "messages" */ // "messages"\nconst messages = "no messages";')).toEqual([]);
});

test("a word of a vendor is found as a name, in a string and by its beginning, and not in comments and longer words", () => {
  const found = (source: string) => wordsIn(["anthropic-*", "cache_control", "thinking"], source);
  expect(found('headers.get("anthropic-version")')).toEqual(["anthropic-*"]);
  expect(found("const { cache_control } = body; body.thinking;")).toEqual(["cache_control", "thinking"]);
  expect(found('/"cache_control"\\s*:/.test(text)')).toEqual(["cache_control"]);
  expect(found("// thinking\nconst rethinking = cache_control_of; /* cache_control */")).toEqual([]);
});

test("no file wants a table of contents", async () => {
  const long: string[] = [];
  for (const file of files) {
    const lines = (await Bun.file(join(ROOT, file)).text()).split("\n").length;
    if (lines > 360) long.push(`${file} has ${lines} lines`);
  }
  expect(long).toEqual([]);
});

test("codecs are synchronous, so that weir translates all that a network read brings in one pass", async () => {
  const found: string[] = [];
  for (const file of files.filter((file) => file.startsWith("src/formats/")))
    if (/\b(async|await|Promise)\b/.test(await codeOf(file))) found.push(file);
  expect(found).toEqual([]);
});

test("the process is ended through src/process/exit.ts alone, because plugins must not be able to", async () => {
  const ends: string[] = [];
  for (const file of files)
    if (/process\.(exit|abort|reallyExit)\b(?!Code)/.test(await codeOf(file))) ends.push(file);
  // The build is a tool; a preflight runs in a process of its own; the re-exec ends before there is a gateway.
  expect(ends).toEqual([
    "src/build/deletion.ts",
    "src/build/main.ts",
    "src/external-plugins/preflight-worker.ts",
    "src/process/exit.ts",
    "src/process/reexec.ts",
  ]);
});

test("no test starts a program that would write to the home folder of the user who runs the tests", async () => {
  const found: string[] = [];
  for (const file of new Glob("test/**/*.ts").scanSync(ROOT))
    if (/PATH: process\.env\["PATH"\](?! \?\? "",\s*HOME)/.test(await sourceOf(file))) found.push(file);
  expect(found).toEqual([]);
});

function sourceOf(file: string): Promise<string> {
  return Bun.file(join(ROOT, file)).text();
}

async function codeOf(file: string): Promise<string> {
  return withoutComments(await sourceOf(file));
}
