/** Lean lists: three tools in place of all, the ranking of a search, and nothing that the caller may not use. */
import { expect, test } from "bun:test";
import type { JsonObject } from "../../../core/json.ts";
import { type Defined, innerCall, LEAN_TOOLS, leanResult } from "../lean/lean.ts";
import { ToolSearch, wordsOf } from "../lean/search.ts";
import { tokensOf } from "../operator/tokens.ts";

function offered(
  server: string,
  tool: string,
  description = "",
  properties: JsonObject = {},
): Defined & { tool: string } {
  return {
    name: `${server}__${tool}`,
    server,
    tool,
    description,
    inputSchema: { type: "object", properties },
  };
}

const TOOLS: readonly Defined[] = [
  offered("github", "search_code", "Finds code in repositories.", { query: { type: "string" } }),
  offered("github", "createIssue", "Opens a new issue.", { title: {}, body: {}, labels: {} }),
  offered("github", "list_issues", "Lists the issues of a repository.", { state: {} }),
  offered("files", "read_file", "Reads a file from the disk.", { path: {} }),
  offered("files", "write_file", "Writes a file to the disk. Replaces what is there.", {
    path: {},
    content: {},
  }),
  offered("mail", "send", "Sends a message to people.", {
    to: {},
    subject: {},
    attachments: { items: { properties: { mime: {} } } },
  }),
];

const find = (query: string, most = 3) => new ToolSearch(TOOLS).find(query, most).map(({ name }) => name);
const result = (name: string, args: JsonObject) => leanResult(TOOLS, name, args) as any;

test("names, descriptions and arguments are found, in any form of a word", () => {
  expect(find("search code")[0]).toBe("github__search_code");
  expect(find("searching for Codes")[0]).toBe("github__search_code");
  expect(find("create an issue", 1)).toEqual(["github__createIssue"]);
  expect(find("issues", 5)).toEqual(["github__createIssue", "github__list_issues"]);
  expect(find("mime")).toEqual(["mail__send"]);
  expect(find("write a FILE")[0]).toBe("files__write_file");
  expect(find("quantum")).toEqual([]);
  expect(find("", 2)).toEqual(["github__search_code", "github__createIssue"]);
});

test("words are parted at changes of case, underscores and dots, and plurals are their singular", () => {
  expect(wordsOf("getHTTPQueries2Files repo.search_codes")).toEqual([
    ...["get", "http", "queries2", "file", "repo", "search", "code"],
  ]);
  expect(wordsOf("status, class and boxes: 日本語 grüße")).toEqual([
    ...["status", "class", "and", "box", "日本語", "grüße"],
  ]);
});

test("a caller gets names and descriptions, then a definition, then a call", () => {
  const { structuredContent, content } = result("find_tools", { query: "disk", limit: 1 });
  expect(structuredContent).toEqual({
    tools: [{ name: "files__read_file", description: "Reads a file from the disk." }],
    of: 6,
  });
  expect(JSON.parse(content[0].text)).toEqual(structuredContent);
  expect(result("describe_tool", { name: "files__read_file" }).structuredContent).toEqual({
    ...{
      name: "files__read_file",
      server: "files",
      tool: "read_file",
      description: "Reads a file from the disk.",
    },
    inputSchema: { type: "object", properties: { path: {} } },
  });
  const args = { path: "/etc/hosts" };
  expect(innerCall("call_tool", { name: "files__read_file", arguments: args })).toEqual({
    ...{ name: "files__read_file", arguments: args },
  });
  expect(innerCall("call_tool", { name: "mail__send" })).toEqual({ name: "mail__send", arguments: {} });
  expect(innerCall("find_tools", { name: "mail__send" })).toBeUndefined();
});

test("what is not in the effective set does not exist", () => {
  for (const name of ["secret__tool", "read_file", "find_tools", "call_tool", "__proto__", 7, null]) {
    const { isError, content } = result("describe_tool", { name });
    expect(isError).toBe(true);
    expect(content[0].text).toStartWith("Unknown tool: ");
  }
});

test("arguments of a wrong kind are errors for the model", () => {
  expect(result("find_tools", {}).isError).toBe(true);
  expect(result("call_tool", { name: "mail__send", arguments: "to=all" }).isError).toBe(true);
  expect(result("find_tools", { query: "file", limit: -5 }).structuredContent.tools.length).toBe(1);
  expect(result("find_tools", { query: "file", limit: 1e9 }).structuredContent.tools.length).toBe(2);
});

test("142 tools cost a thirtieth of their tokens, and the right one is among the first five", () => {
  const verbs = ["create", "delete", "list", "update", "archive", "export", "share"];
  const things = "invoice calendar branch ticket contact deployment dashboard secret webhook comment".split(
    " ",
  );
  const many = verbs.flatMap((verb) =>
    [...things, ...things.map((one) => `${one}Template`)].map((thing) =>
      offered(
        "s",
        `${verb}_${thing}`,
        `${verb} one ${thing} of the workspace. ${"Further words about it. ".repeat(30)}`,
        {
          [`${thing}Id`]: { type: "string", description: "Its id." },
        },
      ),
    ),
  );
  const sum = (tools: readonly JsonObject[]) => tools.reduce((all, one) => all + tokensOf(one), 0);
  expect(sum(LEAN_TOOLS)).toBeLessThan(sum(many as unknown as JsonObject[]) / 30);
  const search = new ToolSearch(many);
  for (const verb of verbs)
    for (const thing of things)
      expect(search.find(`please ${verb} the ${thing}`, 5).map(({ tool }) => tool)).toContain(
        `${verb}_${thing}`,
      );
});

test("a search over 5,000 tools with long texts takes no time that a caller would feel", () => {
  const many = Array.from({ length: 5_000 }, (_, at) =>
    offered("s", `tool_${at}`, `words of tool ${at} `.repeat(20)),
  );
  const search = new ToolSearch(many);
  const before = performance.now();
  expect(search.find("tool 4711 words", 5)[0]!.tool).toBe("tool_4711");
  expect(performance.now() - before).toBeLessThan(200);
});

test("schemas that nest without end and names without end are read up to a limit", () => {
  let schema: JsonObject = {};
  for (let depth = 0; depth < 5_000; depth++) schema = { properties: { [`a${depth}`]: schema } };
  const tool = { ...offered("s", "t"), inputSchema: schema };
  expect(new ToolSearch([tool]).find("a4999", 1)).toEqual([tool]);
  expect(new ToolSearch([tool]).find("a1", 1)).toEqual([]);
});
