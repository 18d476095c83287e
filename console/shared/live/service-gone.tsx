export const ServiceGone = () => (
  <main className="main">
    <ServiceGoneNote />
  </main>
);

export const ServiceGoneNote = () => (
  <p className="note" role="status">
    The service does not answer. It may be restarting; this page tries again by itself.
  </p>
);
