/**
 * The types a dropped plugin sees in an editor, made from the sources of the public face. The result is kept as
 * `src/cli/weir.d.txt`, so that the binary can write it; `UPDATE=1 bun test test/cli` makes it anew.
 */
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "../..");

/** Files of types, in an order that reads well. */
const PARTS = [
  "json",
  "headers",
  "chat",
  "events",
  "error",
  "stop",
  "loss",
  "endpoint",
  "credential",
  "frame",
  "place",
  "ask",
  "call-view",
  "embed",
  "kind",
  "rerank",
  "moderation",
  "decision",
  "realtime",
  "image",
  "cached-content",
  "speech",
  "transcription",
  "does",
  "traits",
  "failure-policy",
  "provider",
  "context",
  "embed-dialect",
  "stored-answer",
  "conversation-codec",
  "stored-codec",
  "limit-figures",
  "size-members",
  "prompt-sections",
  "url-address",
  "client-schemas",
  "model-facts",
  "model-listing",
  "local-operation",
  "default-endpoint",
  "stream-observer",
  "format/routes",
  "format/request-check",
  "format/answer-codec",
  "text-places",
  "file-places",
  "format/facts",
  "format/hosted",
  "format/beside",
  "format/upstream",
  "format",
  "plugin-schema",
  "plugin-guard",
  "plugin",
].map((part) => `src/core/${part}.ts`);

/** Functions for plugins. */
const HELPERS = [
  "src/core/slot.ts",
  "src/core/plugin-column.ts",
  "src/core/plugin-metric.ts",
  "src/core/glob.ts",
  "src/auth/sign-v4.ts",
  "src/auth/aws/credentials.ts",
  "src/auth/oauth-token.ts",
  "src/auth/entra.ts",
  "src/auth/google.ts",
  "src/stream/framing.ts",
  "src/formats/shared/foreign-fields.ts",
  "src/formats/shared/upstream-error.ts",
  "src/plugin.ts",
];

export async function makeWeirTypes(): Promise<string> {
  const sources = await Promise.all([...PARTS, ...HELPERS].map((file) => Bun.file(join(ROOT, file)).text()));
  const declared = sources
    .map(declare)
    .join("")
    .replace(/^interface (\w+) .*?^\}\n/gms, (whole, name: string, _at, all: string) =>
      all.match(new RegExp(`\\b${name}\\b`, "g"))!.length > 1 ? whole : "",
    )
    .replace(/\n{3,}/g, "\n\n")
    .trim();
  const indented = declared.replace(/^(?=.)/gm, "  ");
  return `// Types of weir for the editor, written by \`weir plugin new\`.\ndeclare module "weir" {\n${indented}\n}\n`;
}

/** A source as declarations: no imports, no bodies, no values. */
function declare(source: string): string {
  return dropDanglingComments(
    source
      .replace(/^\/\*\*.*?\*\/\n(?=import|export)/s, (head) =>
        /^\/\*\*[^]*?\*\/\nimport/.test(source) ? "" : head,
      )
      .replace(/^(?:import|export)(?: type)?[^;=(]*? from "[^"]+";\n/gms, "")
      .replace(/^(?:export )?(?:async )?function (.*?) \{\n.*?^\}\n/gms, (whole, signature: string) =>
        whole.startsWith("export ")
          ? `export function ${signature.replace(/ = \{\}/g, "?").replace(/\s+/g, " ")};\n`
          : "",
      )
      .replace(/^export const (\w+): ([^=]+?) = .*?;\n/gms, "export const $1: $2;\n")
      .replace(/^const .*?;\n/gms, "")
      .replace(/^export (?:abstract )?class .*?^\}\n/gms, declareClass),
  );
}

/** Public members with their types; values, bodies and private members are left out. */
function declareClass(source: string): string {
  return source
    .replace(/(\w+): (\w+) = \{\}/g, "$1?: $2")
    .replace(/^  (?:get|set) (\w+)\(\): (.*?) \{\n.*?^  \}\n/gms, "  readonly $1: $2;\n")
    .replace(/^  (?:async )?#\w+\([^{]*?\{\n.*?^  \}\n/gms, "")
    .replace(/^  (?:static |override )?(readonly )?#.*?;\n/gms, "")
    .replace(/^  (?:override )?((?:static )?\w+\([^{]*?\)(?:: [\w<>[\] |]+)?) \{\n.*?^  \}\n/gms, "  $1;\n")
    .replace(/^  (?:override )?readonly startedAt = .*?;$/gms, "  readonly startedAt: number;")
    .replace(/^  (?:override )?readonly (\w+) = new Map<(.*?)>\(\);$/gm, "  readonly $1: Map<$2>;")
    .replace(/^  override readonly name = "(\w+)";$/gm, '  readonly name: "$1";')
    .replace(/^  (\w+) = "";$/gm, "  $1: string;")
    .replace(/^  (\w+) = false;$/gm, "  $1: boolean;")
    .replace(/^  (\w+) = 0;$/gm, "  $1: number;")
    .replace(/^  ((?:readonly )?\w+: [^=;]+) = .*?;$/gm, "  $1;");
}

/** A comment whose declaration is gone. */
function dropDanglingComments(source: string): string {
  return source.replace(/\/\*\*(?:(?!\*\/).)*\*\/\n(?=\s*(?:\n|\/\*\*|$))/gs, "");
}
