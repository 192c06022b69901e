/** Rows of prompts in a file. */
import { setDefaultTimeout } from "bun:test";
import { NOW } from "../../../../test/keeper/books/make.ts";
import { IN_MEMORY } from "../../../keeper/settings.ts";
import { sqliteStore } from "../../../keeper/store/sqlite-store.ts";
import { describePrompts, TABLES } from "./prompt-suite.ts";

setDefaultTimeout(120_000);

describePrompts(async () => {
  const store = sqliteStore(IN_MEMORY, () => NOW, TABLES);
  await store.open();
  return store;
});
