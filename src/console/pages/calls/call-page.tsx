/** The page Call. */
import { Page } from "../../shell/page.tsx";

export function CallPage() {
  return <Page title="Call">{null}</Page>;
}
