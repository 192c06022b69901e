/** `weir files list|show|delete`: what the operations answer, as tables. */
import { type BookContext, runConnected } from "../../cli/books/command.ts";
import { showTime } from "../../cli/books/show.ts";
import { countOf } from "../../cli/books/values.ts";
import type { Command } from "../../cli/command.ts";
import { table } from "../../cli/terminal.ts";
import type { StoredFile, StoredFiles } from "./contracts.ts";

type Run = Pick<Command, "run">;

const command = (run: (context: BookContext) => Promise<number | void>): Run => ({
  run: (context) => runConnected(context, run),
});

const at = (file: string) => `/files/${encodeURIComponent(file)}`;

export const list = command(async ({ api, flags, words: [path], show }) => {
  const query = new URLSearchParams({ limit: String(countOf(flags, "--last") ?? 100) });
  if (path !== undefined) query.set("within", path);
  const found = await api.send<StoredFiles>("GET", `/files?${query}`);
  show(found, () => {
    if (found.files.length === 0) return "no files";
    const rows = found.files.map((file) => [
      ...[file.id, file.path, file.name, file.purpose, String(file.bytes)],
      ...[showTime(file.createdAt), endOf(file)],
    ]);
    const more = found.hasMore ? "\n\nthere are more: --last N" : "";
    return table([["FILE", "PATH", "NAME", "PURPOSE", "BYTES", "SENT (UTC)", "ENDS (UTC)"], ...rows]) + more;
  });
});

export const show = command(async ({ api, words: [file], show: print }) => {
  const found = await api.send<StoredFile>("GET", at(file!));
  print(found, () =>
    table([
      ["file", found.id],
      ["path", found.path],
      ...(found.key === undefined ? [] : [["key", found.key]]),
      ...(found.person === undefined ? [] : [["person", found.person]]),
      ...[
        ["name", found.name],
        ["purpose", found.purpose],
        ["media type", found.mime],
      ],
      ...[
        ["bytes", String(found.bytes)],
        ["sha256", found.sha256],
      ],
      ...[
        ["sent", `${showTime(found.createdAt)} UTC`],
        ["ends", endOf(found)],
      ],
    ]),
  );
});

export const remove = command(async ({ api, words: [file], show: print }) => {
  const gone = await api.send<{ id: string }>("DELETE", at(file!));
  print(gone, () => `deleted ${gone.id}`);
});

function endOf({ expiresAt }: StoredFile): string {
  return expiresAt === undefined ? "never" : showTime(expiresAt);
}
