import { Alert, Button, Group } from "@mantine/core";
import { WithCode } from "../with-code.tsx";

/** An error in the service's own words, with a button to try again if that is possible. */
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
