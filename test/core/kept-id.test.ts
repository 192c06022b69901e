/** Ids of what weir keeps for clients. */
import { expect, test } from "bun:test";
import { createKeptId, keptIdIn } from "../../src/core/kept-id.ts";

test("ids sort by their time, and differ within a millisecond", () => {
  const times = [0, 1, 31, 32, 1_700_000_000_000, 1_795_000_000_000, 2 ** 48];
  const ids = times.map((time) => createKeptId(time));
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(Array.from({ length: 1_000 }, () => createKeptId(5))).size).toBe(1_000);
  for (const id of ids) expect(id).toMatch(/^[0-9a-hjkmnp-tv-z]{26}$/);
});

test("each vendor's form has the id", () => {
  const id = createKeptId();
  for (const form of [id, `file-${id}`, `file_${id}`, `files/${id}`, `msgbatch_${id}`])
    expect(keptIdIn(form)).toBe(id);
  for (const none of [
    "",
    "file-",
    "file-abc",
    `${id}x`,
    `file-${id.slice(1)}`,
    `../${id}`,
    `file-${id.toUpperCase()}`,
  ])
    expect(keptIdIn(none)).toBeUndefined();
});
