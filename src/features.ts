/** The features of weir, one line each. A build leaves out the lines that `--without` names. */
export { importConfigs } from "./features/import/index.ts";
