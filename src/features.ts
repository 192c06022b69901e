/** The features of weir, one line each. A build leaves out the lines that `--without` names. */
export { alerts } from "./features/alerts/index.ts";
export { capture } from "./features/capture/index.ts";
export { drill } from "./features/drill/index.ts";
export { exec } from "./features/exec/index.ts";
export { identity } from "./features/identity/index.ts";
export { importConfigs } from "./features/import/index.ts";
export { modelEndings } from "./features/model-endings/index.ts";
export { paidOnce } from "./features/paid-once/index.ts";
export { probe } from "./features/probe/index.ts";
export { promptCache } from "./features/prompt-cache/index.ts";
export { reconcile } from "./features/reconcile/index.ts";
export { responseCache } from "./features/response-cache/index.ts";
export { sessions } from "./features/sessions/index.ts";
export { tape } from "./features/tape/index.ts";
export { tools } from "./features/tools/index.ts";
export { traces } from "./features/traces/index.ts";
export { whatIf } from "./features/what-if/index.ts";
