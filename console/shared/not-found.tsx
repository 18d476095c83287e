import { Text, Title } from "@mantine/core";
import { Link } from "wouter";

/** For paths without a page, such as a mistyped or an old link. */
export const NotFound = () => (
  <>
    <Title order={1} mb="sm">
      Page not found
    </Title>
    <Text>
      There is no page <span className="mono">{location.pathname}</span> here. Go to the{" "}
      <Link href="/">start page</Link>.
    </Text>
  </>
);
