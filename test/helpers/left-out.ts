/** What the vocabularies of the client formats say about members that a provider does not get. */
import { REQUEST as CHAT } from "../../src/formats/chat-completions/client/check.ts";
import { REQUEST as GEMINI } from "../../src/formats/gemini/client/spelling.ts";
import { REQUEST as INTERACTIONS } from "../../src/formats/gemini/interactions/check.ts";
import { REQUEST as MESSAGES } from "../../src/formats/messages/client/check.ts";
import { GENERATE_REQUEST, REQUEST as OLLAMA } from "../../src/formats/ollama/client/check.ts";
import { REQUEST as RESPONSES } from "../../src/formats/responses/client/check.ts";
import type { Vocabulary } from "../../src/formats/shared/vocabulary.ts";

const VOCABULARIES: Readonly<Record<string, Vocabulary>> = {
  "chat-completions": CHAT,
  messages: MESSAGES,
  responses: RESPONSES,
  gemini: GEMINI,
  interactions: INTERACTIONS,
  ollama: OLLAMA,
  "ollama-generate": GENERATE_REQUEST,
};

/** The members that weir leaves out without a report, with their reasons, by the id of the format. */
export const SILENT: Readonly<Record<string, readonly { path: string; reason: string }[]>> =
  Object.fromEntries(
    Object.entries(VOCABULARIES).map(([format, vocabulary]) => [format, [...vocabulary.silent()]]),
  );

/** Whether the table has a member, or what contains it. @param path in the spelling of the client, with indices */
export function isSilent(format: string, path: string): boolean {
  return reasonFor(format, path) !== undefined;
}

/** The reason for which the table has a member, or what contains it. */
export function reasonFor(format: string, path: string): string | undefined {
  const plain = path
    .replace(/\[\d+\]/g, "")
    // The content of a tool result has the members of other content, a namespace those of other tools.
    .replace(/\.(content|tools)(?=\.\1\b)/g, "")
    .replace(/^tools\.tools\./, "tools.");
  const named =
    format === "gemini" ? plain.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) : plain;
  return SILENT[format]!.find(({ path: silent }) => named === silent || named.startsWith(`${silent}.`))
    ?.reason;
}

/** The path with `[]` behind each list. */
function withLists(path: string): string {
  return path.replace(
    /\b(system|messages|content|tools|tool_calls|images|input|output|contents|parts|functionDeclarations)\./g,
    "$1[].",
  );
}

/** The table of `src/formats/README.md`: one row for each reason, with the members of each format. */
export function makeSilentTable(): string {
  const rows = new Map<string, Map<string, string[]>>();
  for (const [format, members] of Object.entries(SILENT))
    for (const { path, reason } of members) {
      const formats = rows.get(reason) ?? new Map<string, string[]>();
      rows.set(reason, formats.set(format, [...(formats.get(format) ?? []), `\`${withLists(path)}\``]));
    }
  const lines = [...rows].flatMap(([reason, formats]) =>
    [...formats].map(
      ([format, paths], index) => `| ${index === 0 ? reason : ""} | ${format} | ${paths.join(", ")} |`,
    ),
  );
  return ["| why | format | members |", "| --- | --- | --- |", ...lines].join("\n");
}
