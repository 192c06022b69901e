/** SCIM with a file as the store, and three workers. */
import { describe, setDefaultTimeout } from "bun:test";
import { describeScim } from "./scim-suite.ts";

setDefaultTimeout(120_000);

describe("in a file", () => describeScim(3));
