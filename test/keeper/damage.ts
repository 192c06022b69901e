/** Ways in which the files of a state folder are damaged, and the state in which the gateway must be after each. */
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  openSync,
  closeSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";

/**
 * `recovered`: keys of the store admit calls, and no call passes without one. `closed`: calls with keys of the store and calls without
 * a key get 503, whose message says `weir store release`. `refused`: the gateway does not start, and says why.
 */
export type Ending = "recovered" | "closed" | "refused";

export interface Damage {
  file: string;
  what: string;
  /** More than one where it depends on which rows the damaged pages hold. */
  ends: readonly Ending[];
  /** The gateway was killed, so that its log is beside the file. */
  killed?: true;
  harm(folder: string): void;
}

const PAGE = 8192;

const at = (folder: string, file: string) => join(folder, file);
const sizeOf = (path: string) => statSync(path).size;

function overwrite(path: string, from: number, bytes: number): void {
  const file = openSync(path, "r+");
  // The same bytes each time: a multiplier of a linear congruential generator.
  let state = 42;
  const noise = Uint8Array.from(
    { length: bytes },
    () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) & 255,
  );
  writeSync(file, noise, 0, bytes, from);
  closeSync(file);
}

function asFolder(path: string): void {
  rmSync(path, { force: true });
  mkdirSync(path);
}

const pages = (from: number, count: number) => (folder: string) =>
  overwrite(at(folder, "weir.db"), from * PAGE, count * PAGE);

const DB: readonly (Omit<Damage, "file"> & { file?: string })[] = [
  { what: "removed", ends: ["closed"], harm: (folder) => rmSync(at(folder, "weir.db")) },
  {
    what: "removed, with its logs",
    ends: ["closed"],
    harm: (folder) =>
      ["", "-wal", "-shm"].forEach((end) => rmSync(at(folder, `weir.db${end}`), { force: true })),
  },
  { what: "emptied", ends: ["closed"], harm: (folder) => truncateSync(at(folder, "weir.db"), 0) },
  { what: "cut to one byte", ends: ["closed"], harm: (folder) => truncateSync(at(folder, "weir.db"), 1) },
  { what: "cut to one page", ends: ["closed"], harm: (folder) => truncateSync(at(folder, "weir.db"), PAGE) },
  {
    what: "cut to a half",
    ends: ["closed"],
    harm: (folder) => truncateSync(at(folder, "weir.db"), Math.floor(sizeOf(at(folder, "weir.db")) / 2)),
  },
  {
    what: "without its last page",
    ends: ["closed"],
    harm: (folder) => truncateSync(at(folder, "weir.db"), sizeOf(at(folder, "weir.db")) - PAGE),
  },
  { what: "a random head", ends: ["closed"], harm: (folder) => overwrite(at(folder, "weir.db"), 0, 4_096) },
  {
    what: "random bytes in the header, after its name",
    ends: ["closed"],
    harm: (folder) => overwrite(at(folder, "weir.db"), 16, 84),
  },
  {
    what: "random bytes throughout",
    ends: ["closed"],
    harm: (folder) => overwrite(at(folder, "weir.db"), 0, sizeOf(at(folder, "weir.db"))),
  },
  {
    what: "text in its place",
    ends: ["closed"],
    harm: (folder) => writeFileSync(at(folder, "weir.db"), "this is not a database ".repeat(1_000)),
  },
  {
    what: "one byte of text in its place",
    ends: ["closed"],
    harm: (folder) => writeFileSync(at(folder, "weir.db"), "x"),
  },
  { what: "a folder in its place", ends: ["refused"], harm: (folder) => asFolder(at(folder, "weir.db")) },
  ...[1, 2, 4, 8, 12, 16, 24].map((page) => ({
    what: `4 random pages, from page ${page + 1} on`,
    ends: ["closed", "recovered"] as const,
    harm: pages(page, 4),
  })),
  {
    what: "the second half random",
    ends: ["closed", "recovered"],
    harm: (folder) => {
      const size = sizeOf(at(folder, "weir.db"));
      overwrite(at(folder, "weir.db"), size / 2, size / 2);
    },
  },
  {
    what: "random bytes behind its end",
    ends: ["recovered"],
    harm: (folder) => appendFileSync(at(folder, "weir.db"), "more".repeat(3_000)),
  },
  {
    what: "an older copy in its place",
    ends: ["closed"],
    harm: (folder) => copyFileSync(at(folder, "older.db"), at(folder, "weir.db")),
  },
  {
    what: "a new, empty database in its place",
    ends: ["closed"],
    harm: (folder) => copyFileSync(at(folder, "empty.db"), at(folder, "weir.db")),
  },
  {
    what: "the database of another program in its place",
    ends: ["refused"],
    harm: (folder) => copyFileSync(at(folder, "foreign.db"), at(folder, "weir.db")),
  },
  {
    what: "emptied, with a daily copy beside it",
    ends: ["closed"],
    harm(folder) {
      copyFileSync(at(folder, "weir.db"), at(folder, "weir.db.copy-2026-11-01"));
      truncateSync(at(folder, "weir.db"), 0);
    },
  },
  {
    what: "emptied, with the mark removed and a daily copy beside it",
    ends: ["closed"],
    harm(folder) {
      renameSync(at(folder, "weir.db"), at(folder, "weir.db.copy-2026-11-01"));
      writeFileSync(at(folder, "weir.db"), "");
      rmSync(at(folder, "weir.mark"));
    },
  },
  {
    what: "emptied, with a random mark",
    ends: ["closed"],
    harm(folder) {
      truncateSync(at(folder, "weir.db"), 0);
      overwrite(at(folder, "weir.mark"), 0, 40);
    },
  },
  {
    what: "a random head, with the mark removed",
    ends: ["closed"],
    harm(folder) {
      overwrite(at(folder, "weir.db"), 0, 4_096);
      rmSync(at(folder, "weir.mark"));
    },
  },
];

const WAL: readonly Omit<Damage, "file">[] = [
  { what: "removed", ends: ["closed"], killed: true, harm: (folder) => rmSync(at(folder, "weir.db-wal")) },
  {
    what: "emptied",
    ends: ["closed"],
    killed: true,
    harm: (folder) => truncateSync(at(folder, "weir.db-wal"), 0),
  },
  {
    what: "cut to a half",
    ends: ["closed"],
    killed: true,
    harm: (folder) =>
      truncateSync(at(folder, "weir.db-wal"), Math.floor(sizeOf(at(folder, "weir.db-wal")) / 2)),
  },
  {
    what: "a random head",
    ends: ["closed"],
    killed: true,
    harm: (folder) => overwrite(at(folder, "weir.db-wal"), 0, 64),
  },
  {
    what: "random bytes in the middle",
    ends: ["closed"],
    killed: true,
    harm: (folder) =>
      overwrite(at(folder, "weir.db-wal"), Math.floor(sizeOf(at(folder, "weir.db-wal")) / 2), 4_096),
  },
  { what: "a folder in its place", ends: ["refused"], harm: (folder) => asFolder(at(folder, "weir.db-wal")) },
  {
    what: "a foreign log beside a gateway that was stopped",
    ends: ["recovered"],
    harm: (folder) => writeFileSync(at(folder, "weir.db-wal"), "not a log ".repeat(2_000)),
  },
];

const MARK: readonly Omit<Damage, "file">[] = [
  { what: "removed", ends: ["recovered"], harm: (folder) => rmSync(at(folder, "weir.mark")) },
  { what: "emptied", ends: ["recovered"], harm: (folder) => truncateSync(at(folder, "weir.mark"), 0) },
  { what: "random bytes", ends: ["recovered"], harm: (folder) => overwrite(at(folder, "weir.mark"), 0, 40) },
  { what: "a folder in its place", ends: ["refused"], harm: (folder) => asFolder(at(folder, "weir.mark")) },
];

const OTHERS: readonly Damage[] = ["responses.db"].flatMap((file): Damage[] => [
  { file, what: "emptied", ends: ["recovered"], harm: (folder) => truncateSync(at(folder, file), 0) },
  {
    file,
    what: "a random head",
    ends: ["recovered"],
    harm: (folder) => overwrite(at(folder, file), 0, 4_096),
  },
  {
    file,
    what: "text in its place",
    ends: ["recovered"],
    harm: (folder) => writeFileSync(at(folder, file), "text"),
  },
  { file, what: "removed", ends: ["recovered"], harm: (folder) => rmSync(at(folder, file)) },
  { file, what: "a folder in its place", ends: ["recovered"], harm: (folder) => asFolder(at(folder, file)) },
]);

export const DAMAGES: readonly Damage[] = [
  ...DB.map((damage) => ({ file: "weir.db", ...damage })),
  ...WAL.map((damage) => ({ file: "weir.db-wal", ...damage })),
  ...MARK.map((damage) => ({ file: "weir.mark", ...damage })),
  ...OTHERS,
];
