"""Worker processes that end when the process that started them does."""

import os
import threading
import time

_SECONDS = 1.0


def end_with_parent() -> None:
    """Call in a new worker process: it then ends soon after its parent, however that ends.

    A parent that is killed cannot tell its workers, and they would wait for work for ever.
    """
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
