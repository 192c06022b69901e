/** The page Calls. */
import { Page } from "../../shell/page.tsx";

export function CallsPage() {
  return <Page title="Calls">{null}</Page>;
}
