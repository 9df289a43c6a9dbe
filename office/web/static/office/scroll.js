// Follows the newest text while one is at the bottom, and leaves the reader alone everywhere else.

const NEAR = 64;

export class Scroll {
  /** `pill` offers the way down when something new came meanwhile; `older()` is asked for when the top is near. */
  constructor(scroller, content, pill, { older, bottom }) {
    Object.assign(this, { scroller, content, pill, older, bottom, following: true, last: 0 });
    scroller.addEventListener("scroll", () => this.moved(), { passive: true });
    pill.addEventListener("click", () => this.toBottom());
    new ResizeObserver(() => this.following && this.pin()).observe(content);
    new ResizeObserver(() => this.following && this.pin()).observe(scroller);
  }

  get atBottom() {
    const { scrollHeight, scrollTop, clientHeight } = this.scroller;
    return scrollHeight - scrollTop - clientHeight < NEAR;
  }

  moved() {
    const { scrollTop } = this.scroller;
    if (this.atBottom) this.arrived();
    else if (scrollTop < this.last - 1) this.following = false; // only a reader moves up
    this.last = scrollTop;
    if (scrollTop < 400) this.older();
  }

  arrived() {
    this.following = true;
    this.pill.hidden = true;
    this.bottom();
  }

  pin() {
    this.scroller.scrollTop = this.last = this.scroller.scrollHeight;
  }

  toBottom() {
    this.following = true;
    this.pin();
    this.arrived();
  }

  /** Something new came in below. */
  noticed() {
    if (!this.following) this.pill.hidden = false;
  }

  /** Makes a change, anywhere in the thread, so that what the reader looks at stays where it is. */
  keep(change) {
    if (this.following) {
      change();
      this.pin();
      return;
    }
    const mark = this.firstVisible();
    const before = mark?.getBoundingClientRect().top;
    change();
    if (mark?.isConnected) this.scroller.scrollTop += mark.getBoundingClientRect().top - before;
    this.last = this.scroller.scrollTop;
  }

  firstVisible() {
    const top = this.scroller.getBoundingClientRect().top;
    return [...this.content.querySelectorAll("[data-item]")].find((node) => node.getBoundingClientRect().bottom > top);
  }
}
