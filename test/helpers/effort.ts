/** How much a run of the tests does: each script of package.json sets the variables that it needs. */
import { test } from "bun:test";

const isSet = (name: string) => process.env[name] === "1";

/** `bun run nightly`: more time for properties, more cases, larger inputs. */
export const IS_LONG = isSet("LONG_TESTS");

/** `bun run stress`: loads and kills for as long as they once needed to find a fault, and all calls instead of a part. */
export const IS_STRESS = isSet("LONG_STRESS");

/**
 * `bun run test`: PostgreSQL and the browser have runs of their own, because they need the machine for themselves, and
 * properties have more time than in `bun run check`.
 */
export const IS_ALL = isSet("ALL_TESTS");

/** Declares a test that only `bun run nightly` runs. Its name says so. */
export function testNightly(name: string, run: () => void | Promise<void>): void {
  test.if(IS_LONG)(`${name} (nightly)`, run);
}
