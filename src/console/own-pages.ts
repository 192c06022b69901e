/** The pages of features, one line each: a build without a feature lacks its line. */
export type { OwnPage } from "./shell/own-page.ts";
export { page as tools } from "../features/tools/console/page.ts";
export { page as sessions } from "../features/sessions/console/page.ts";
export { page as runs } from "../features/runs/console/page.ts";
export { page as batches } from "../features/batches/console/page.ts";
export { page as alerts } from "../features/alerts/console/page.ts";
export { page as resend } from "../features/resend/console/page.ts";
export { page as guards } from "../features/guards/console/page.ts";
export { page as rehearse } from "../features/rehearse/console/page.ts";
