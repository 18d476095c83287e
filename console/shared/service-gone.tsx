export function ServiceGone() {
  return (
    <main className="main">
      <p className="note" role="status">
        The service does not answer. It may be restarting; this page tries again by itself.
      </p>
    </main>
  );
}
