/** The commands on guards. */
import { type CommandHead, CONFIG_FLAGS, JSON_FLAG } from "../../cli/command.ts";

export const guardsCommands: readonly CommandHead[] = [
  {
    name: "guards test",
    after: ["explain", "check"],
    summary:
      "show what a guard of the config finds in a text; exits with 1 if it finds something, and 2 if it fails",
    words: [{ name: "NAME" }, { name: "FILE", optional: true, completes: "file" }],
    flags: [
      {
        name: "--corpus",
        value: "FOLDER",
        help: "read all files of a folder, and print how much the guard finds in 100 KB",
        completes: "folder",
      },
      JSON_FLAG,
      ...CONFIG_FLAGS,
    ],
    run: () => import("./test-cli.ts"),
  },
  {
    name: "guards prove",
    after: ["guards test"],
    summary:
      "send planted values through guards of each kind, in all formats and streams, and say if one comes out",
    words: [{ name: "FILE", optional: true, completes: "file" }],
    flags: [
      { name: "--all", help: "prove the whole matrix, which takes half an hour, and not a sample" },
      { name: "--seed", value: "N", help: "seed of the sample (default 1)" },
      { name: "--cells", value: "N", help: "size of the sample (default 1300)" },
      { name: "--cell", value: "CELL", help: "prove one cell, as a failure names it" },
      { name: "--first", help: "end at the first failure" },
      { name: "--json", help: "print the result as JSON, or write it to FILE beside the matrix" },
    ],
    run: () => import("./prove/cli.ts"),
  },
];
