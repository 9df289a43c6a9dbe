// What this browser keeps between visits: drafts, the outbox, the last channel. A full or forbidden store is no error.

export const shelf = {
  get(key, otherwise = null) {
    try {
      const raw = localStorage.getItem(`office:${key}`);
      return raw === null ? otherwise : JSON.parse(raw);
    } catch {
      return otherwise;
    }
  },
  set(key, value) {
    try {
      if (value === null || value === "") localStorage.removeItem(`office:${key}`);
      else localStorage.setItem(`office:${key}`, JSON.stringify(value));
      return true;
    } catch {
      return false;
    }
  },
};
