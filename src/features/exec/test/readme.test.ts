import { test } from "bun:test";
import { CLIENTS, type KnownClient } from "../../../cli/clients/index.ts";
import { checkPart, markdownTable } from "../../../../test/helpers/documents.ts";

test("the table of clients in README.md is that of weir exec", async () => {
  const rows = CLIENTS.map((client) => {
    const [address, model] = waysOf(client);
    return [client.name, client.commands.map(code).join(" "), address, model].map((cell) => cell ?? "");
  });
  const head = ["client", "command", "how it finds the gateway", "how it gets the model"];
  await checkPart("src/features/exec/README.md", "clients", markdownTable(head, rows));
});

const code = (text: string) => `\`${text}\``;

/** The variables, flags and files by which a client finds the gateway, and those by which it also gets a model. */
function waysOf({ env, args, files }: KnownClient): string[] {
  const ways = (model?: string) => {
    const aim = { url: "URL", key: "KEY", folder: "FOLDER", user: {}, model };
    const variables = Object.entries(env?.(aim) ?? {}).filter(([, value]) => value !== undefined);
    const flags = (args?.(aim) ?? [])
      .join(" ")
      .split(/ (?=-)/)
      .filter(Boolean);
    return new Map([
      ...variables.map(([name, value]) => [code(name), value] as const),
      ...flags.map((flag) => [code(flag), flag] as const),
      ...Object.entries(files?.(aim) ?? {}).map(([name, text]) => [`the file ${code(name)}`, text] as const),
    ]);
  };
  const [plain, chosen] = [ways(), ways("MODEL")];
  const added = [...chosen].filter(([name, value]) => plain.get(name) !== value).map(([name]) => name);
  return [[...plain.keys()].join(", "), added.join(", ")];
}
