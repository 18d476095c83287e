import { Alert } from "@mantine/core";

export function ServiceGone() {
  return (
    <Alert color="yellow" variant="light" title="The service does not answer" m="md" role="status" autoContrast>
      It may be restarting. This page tries again by itself.
    </Alert>
  );
}
