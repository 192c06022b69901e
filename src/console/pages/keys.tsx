/** The page Keys. */
import { Page } from "../shell/page.tsx";

export function KeysPage() {
  return <Page title="Keys">{null}</Page>;
}
