/** `weir tools pins|approve|logs`: what operators see and approve. Texts of servers are shown with what is invisible. */
import { type BookContext, runConnected } from "../../../cli/books/command.ts";
import type { Command } from "../../../cli/command.ts";
import { confirmed } from "../../../cli/confirm.ts";
import { paint, table } from "../../../cli/terminal.ts";
import { textOf } from "../../../cli/books/values.ts";
import { visible, visibleLines, visibleName } from "../pins/visible.ts";
import type { PinsApproved, ServerPins, ToolServer } from "./contracts.ts";

type Run = Pick<Command, "run">;

const command = (run: (context: BookContext) => Promise<number | void>): Run => ({
  run: (context) => runConnected(context, run),
});

export const pins = command(async ({ api, words: [server], show }) => {
  if (server !== undefined) {
    const found = await api.send<ServerPins>("GET", `${pathOf(server)}/pins`);
    return show(found, () =>
      found.changes.length === 0 ? `the tools of ${server} are as they were approved` : shownDiff(found),
    );
  }
  const answer = await api.send<{ servers: ToolServer[] }>("GET", "/tools/servers");
  show(answer, () => {
    if (answer.servers.length === 0) return "no servers of tools";
    const rows = answer.servers.map(({ name, state, tools, tokens, waiting, pin = "" }) => [
      ...[name, state, String(tools), String(tokens), waiting === 0 ? "" : `${waiting} to approve`, pin],
    ]);
    return table([["SERVER", "STATE", "TOOLS", "TOKENS", "WAITING", "PIN"], ...rows]);
  });
});

export const approve = command(async ({ api, words: [server = ""], flags, show, print, printError }) => {
  const found = await api.send<ServerPins>("GET", `${pathOf(server)}/pins`);
  const named = textOf(flags, "--tool")?.split(",");
  const changes = found.changes.filter(({ tool }) => named?.includes(tool) ?? true);
  if (changes.length === 0) {
    show({ server, changes: [] }, () => `nothing of ${server} waits for an approval`);
    return;
  }
  if (flags["--yes"] !== true) {
    printError(shownDiff({ ...found, changes }));
    if (!process.stdin.isTTY || !process.stderr.isTTY) {
      printError("weir: nothing was approved; --yes approves without a question");
      return 1;
    }
    if (!(await confirmed(`Approve these tools of ${server}?`, flags))) {
      printError("weir: nothing was approved");
      return 1;
    }
  }
  const body = { digest: found.digest, ...(named && { tools: changes.map(({ tool }) => tool) }) };
  const approved = await api.send<PinsApproved>("POST", `${pathOf(server)}/approve`, { body });
  const { path, fault, text } = approved.file ?? {};
  if (fault === undefined || flags["--json"] === true) {
    const where = path === undefined ? "" : ` in ${visible(path)}`;
    show(approved, () => approved.changes.map((change) => `approved${where}: ${change}`).join("\n"));
  } else {
    printError(
      `weir: nothing was approved: ${visible(path ?? "")} cannot be written (${fault}); this is the file with the change`,
    );
    print(text!.trimEnd());
  }
  return fault === undefined ? 0 : 1;
});

export const logs = command(async ({ api, words: [server = ""], show }) => {
  const found = await api.send<{ programs: { program: string; text: string }[] }>(
    "GET",
    `${pathOf(server)}/logs`,
  );
  show(found, () => {
    const parts = found.programs.map(({ program, text }) =>
      [`${visibleName(program)}:`, ...visibleLines(text.trimEnd()).map((line) => `  ${line}`)].join("\n"),
    );
    return parts.length === 0 ? `no program of ${server} has written anything` : parts.join("\n");
  });
});

const pathOf = (server: string) => `/tools/servers/${encodeURIComponent(server)}`;

const COLOURS = { "-": "red", "+": "green" } as const;

/** The differences for people. */
export function shownDiff({ server, changes }: Pick<ServerPins, "server" | "changes">): string {
  return changes
    .map(({ tool, kind, lines }) => {
      const shown = lines.map(({ sign, text }) =>
        sign === " " ? `    ${text}` : paint(COLOURS[sign], `  ${sign} ${text}`),
      );
      return [`${server}: ${kind} ${visibleName(tool)}`, ...shown].join("\n");
    })
    .join("\n\n");
}
