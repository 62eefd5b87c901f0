"""Film the page of ``linkwork view``: docs/pictures/view-panda.gif. Needs Chromium, and Pillow to join the frames."""

import io
import shutil
from importlib.metadata import files
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

import linkwork
from linkwork.control import ComputedTorque, Quintic
from linkwork.view import show

FILM = Path(__file__).parent / "pictures" / "view-panda.gif"
POSITIONS = [0.0, -0.5, 0.0, -2.2, 0.0, 1.8, 0.8], [1.0, 0.5, 0.2, -1.4, 0.3, 2.2, 0.2]
SECONDS, FRAMES = 1.2, 18  # of each way
SOFTWARE = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def urdf() -> Path:
    paths = (Path(str(file.locate())) for file in files("example-robot-data") or ())
    return next(path for path in paths if path.parts[-2:] == ("urdf", "panda.urdf"))


def frames():
    robot = linkwork.load(urdf(), lock={"panda_finger_joint1": 0.02})
    there, back = np.array(POSITIONS), np.array(POSITIONS[::-1])
    ways = [
        robot.simulate(start, duration=SECONDS, torque=ComputedTorque(100, 20), reference=Quintic(start, goal, SECONDS))
        for start, goal in (there, back)
    ]
    page = show(robot, ways, visuals=urdf(), port=0)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=SOFTWARE)
        tab = browser.new_page(viewport={"width": 1400, "height": 640})
        tab.goto(page.url)
        tab.wait_for_selector("[data-torque]", timeout=60_000)
        tab.wait_for_timeout(5_000)
        for button in tab.locator(".mantine-Notification-closeButton").all():  # that there is no graphics processor
            button.click()
        page.drawing.overlay([])
        for page.player.chosen in range(len(ways)):
            for page.player.time in np.linspace(0, SECONDS, FRAMES, endpoint=False):
                page._show_moment()
                tab.wait_for_timeout(600)
                image = Image.open(io.BytesIO(tab.screenshot(timeout=60_000))).convert("RGB")
                yield image.resize((840, 384), Image.Resampling.LANCZOS)
        browser.close()
    page.stop()


if __name__ == "__main__":
    first, *rest = [image.quantize(96, dither=Image.Dither.NONE) for image in frames()]
    first.save(FILM, save_all=True, append_images=rest, duration=int(1000 * SECONDS / FRAMES), loop=0, optimize=True)
