/** The page Spend. */
import { Page } from "../shell/page.tsx";

export function SpendPage() {
  return <Page title="Spend">{null}</Page>;
}
