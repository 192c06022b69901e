/** Searches of calls in SQLite. */
import { describe } from "bun:test";
import { IN_MEMORY } from "../../../src/keeper/settings.ts";
import { sqliteStore } from "../../../src/keeper/store/sqlite-store.ts";
import { describeCallSearch } from "./call-search-suite.ts";
import { NOW } from "./make.ts";

describe("a search of calls in SQLite", () =>
  describeCallSearch(async () => {
    const store = sqliteStore(IN_MEMORY, () => NOW);
    await store.open();
    return store;
  }));
