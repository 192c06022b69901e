/** The features and the commands of weir with all of them. */
import { commandsWith } from "../../src/cli/commands.ts";
import { featuresIn } from "../../src/feature/feature.ts";
import * as exported from "../../src/features.ts";

export const FEATURES = featuresIn(exported);
export const COMMANDS = commandsWith(FEATURES);
