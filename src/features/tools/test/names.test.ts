/** Names of tools at `/mcp`. */
import { expect, test } from "bun:test";
import { mergedName, splitName } from "../bridge/names.ts";

test("a name of at most 64 characters stays, and a longer one is one that models take", () => {
  expect(mergedName("github", "search_code")).toBe("github__search_code");
  expect(mergedName("a", "x".repeat(61))).toHaveLength(64);
  const long = mergedName("files", "é/.".repeat(40));
  expect(long).toMatch(/^files__[\w-]+_[0-9a-f]{8}$/);
  expect(long).toHaveLength(64);
});

test("long names with the same beginning stay apart", () => {
  const names = new Set<string>();
  for (let at = 0; at < 10_000; at++) names.add(mergedName("server", `${"long-name-".repeat(6)}${at}`));
  expect(names.size).toBe(10_000);
});

test("the first separator ends the name of the server", () => {
  expect(splitName("a__b__c")).toEqual({ server: "a", rest: "b__c" });
  expect(splitName("a____b")).toEqual({ server: "a", rest: "__b" });
  expect(splitName("__a")).toBeUndefined();
  expect(splitName("plain")).toBeUndefined();
});
