import { Alert, Button, Group } from "@mantine/core";
import { WithCode } from "../with-code.tsx";

/** What went wrong, in the service's own words, and the way to try again where there is one. */
export function Problem({ error, retry }: { readonly error: Error | null; readonly retry?: () => void }) {
  if (error === null) return null;
  return (
    <Alert color="red" variant="light" role="alert" mb="xs" styles={{ message: { color: "inherit" } }}>
      <Group justify="space-between">
        <span className="breaks">
          <WithCode text={error.message} />
        </span>
        {retry && (
          <Button size="compact-sm" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </Group>
    </Alert>
  );
}
