/** The flags of `weir rehearse`. */
import type { Flag } from "../../cli/command.ts";

export const REHEARSE_FLAGS: readonly Flag[] = [
  {
    name: "--against",
    value: "FILE",
    help: "config of the calls (default: weir.yaml in the working directory)",
    completes: "file",
  },
  {
    name: "--binary",
    value: "WEIR",
    help: "another build of weir, which says what it would do with each call",
    completes: "file",
  },
  { name: "--last", value: "N", help: "number of calls, the newest ones (default 10,000)" },
  { name: "--since", value: "TIME", help: "only calls since then: 7d, 24h, or a day: 2026-11-01" },
  {
    name: "--tape",
    value: "FILE",
    help: "the calls of a tape of weir record, with their texts",
    completes: "file",
  },
  {
    name: "--state",
    value: "DIR",
    help: "state folder with the outlines (default: that of the config)",
    completes: "folder",
  },
  { name: "--explain", value: "N", help: "show the Nth changed call as a whole" },
  {
    name: "--allow",
    value: "N",
    help: "number of changed calls from which on the exit code is 1 (default 0: any)",
  },
  { name: "--junit", value: "FILE", help: "write a report for CI", completes: "file" },
  {
    name: "--facts",
    help: "print what this build would do with each outline of the standard input, as lines of JSON",
  },
  {
    name: "--used",
    value: "NAMES",
    help: "with --facts: providers that are on, also without their credentials",
  },
];
