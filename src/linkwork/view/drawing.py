"""The 3D scene in viser: a node for each body, with its meshes below, placed as the State says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..model.rotations import quaternion_from_rotation
from .dragging import Ball, Tip
from .meshes import Mesh, arrow, joined, sphere, z_toward
from .player import Motion
from .shapes import Shape, ellipsoids, matrix, placed, poses
from .state import State

FORCE, MOMENT, CENTER = (232, 90, 40), (140, 60, 200), (20, 20, 24)
GHOSTS = (237, 174, 73), (0, 121, 140), (209, 73, 91), (48, 99, 142), (102, 161, 130)  # colours, used in this order
LAYERS = {  # whether each is visible by default
    "drag ball": True,
    "frames": False,
    "inertia ellipsoids": False,
    "centre of mass": True,
}
PATH = 200  # points of a path


class Drawing:
    """Scene with a robot, drawn by one of ``looks`` (name -> shapes).

    All nodes are below one, the world. While ``followed``, the world moves against the robot, so that the robot stays
    in front of the camera, wherever a user has put it.
    """

    def __init__(self, server: Any, state: State, looks: dict[str, list[Shape]]):
        self.scene, self.state = server.scene, state
        self.looks = {name: _merged(shapes) for name, shapes in looks.items()}
        self.look = next(iter(looks))
        self.shown = dict(LAYERS)
        self.followed, self.world = True, self.scene.add_frame("/world", show_axes=False)
        self.start = state.base_position()
        self.robot = self._bodies("/world/robot")
        self.meshes = {name: self._add(self.looks[name], "/world/robot", name) for name in looks}
        shapes = ellipsoids(state.robot.model)
        center = self._mesh("/world/center_of_mass", sphere(0.022 * state.size), CENTER, cast_shadow=False)
        self.tip = Tip(state)
        self.ball = Ball(self.scene, self.world, self.tip)
        self.layers: dict[str, list[Any]] = {
            "drag ball": self.ball.nodes,
            "inertia ellipsoids": self._add(shapes, "/world/robot", "ellipsoid", opacity=0.3, cast_shadow=False),
            "frames": self._frames(),
            "centre of mass": [center],
        }
        self.ghosts: list[tuple[list[Any], Motion]] = []
        self._surroundings(server)
        self.show()

    # -- nodes ---------------------------------------------------------------------------------------------------

    def _bodies(self, name: str) -> list[Any]:
        count = len(self.state.poses())
        return [self.scene.add_frame(f"{name}/{i}", show_axes=False) for i in range(count)]

    def _mesh(self, name: str, mesh: Mesh, color: Any, **options: Any) -> Any:
        return self.scene.add_mesh_simple(
            name, mesh.vertices, mesh.faces, color=color, side="double", receive_shadow=False, **options
        )

    def _add(self, shapes: Sequence[Shape], parent: str, name: str, color: Any = None, **options: Any) -> list[Any]:
        return [
            self._mesh(f"{parent}/{shape.body}/{name}/{k}", shape.mesh, color or shape.color, **options)
            for k, shape in enumerate(shapes)
        ]

    def _frames(self) -> list[Any]:
        size, handles = self.state.size, []
        for k, (name, frame) in enumerate(self.state.robot.model.frames.items()):
            node = f"/world/robot/{frame.body}/frame/{k}"
            handles.append(self.scene.add_frame(node, axes_length=0.09 * size, axes_radius=0.004 * size))
            _place(handles[-1:], [matrix(frame.pose)])
            handles.append(self.scene.add_label(f"{node}/label", name, font_screen_scale=0.7))
        return handles

    def _surroundings(self, server: Any) -> None:
        """Add a grid on the ground, or below the robot, and a camera that sees the whole robot."""
        state, size = self.state, self.state.size
        up = -state.gravity / np.linalg.norm(state.gravity) if state.gravity.any() else np.array([0.0, 0.0, 1.0])
        at = state.poses()
        points = [at[s.body][:3, :3] @ s.mesh.vertices.T + at[s.body][:3, 3:] for s in self.looks[self.look]]
        corners = np.concatenate(points, axis=1).T if points else np.zeros((1, 3))
        low, high = corners.min(axis=0), corners.max(axis=0)
        middle, diagonal = (low + high) / 2, float(np.linalg.norm(high - low)) or size
        cell = 10.0 ** np.floor(np.log10(size / 2))
        point, normal = state.ground or (corners[(corners @ up).argmin()], up)
        self.scene.set_up_direction(tuple(up))
        self.scene.configure_environment_map("studio", environment_intensity=0.3)
        self.grid = self.scene.add_grid(
            "/world/grid",
            infinite_grid=True,
            cell_size=cell,
            section_size=5 * cell,
            fade_distance=14 * size,
            cell_color=(222, 225, 229),
            section_color=(196, 201, 208),
            wxyz=_wxyz(z_toward(normal)),
            position=tuple(normal * (point @ normal - 0.002 * size)),
        )
        camera = server.initial_camera
        camera.up, camera.fov = tuple(up), np.radians(40)
        camera.look_at = tuple(middle)
        camera.position = tuple(middle + 2.0 * diagonal * _view_from(state, up))
        camera.near, camera.far = 0.01 * size, 100 * size

    # -- display -------------------------------------------------------------------------------------------------

    def show(self) -> None:
        """Show the chosen look and layers, and hide the others."""
        for name, handles in self.meshes.items():
            for handle in handles:
                handle.visible = name == self.look
        for name, handles in self.layers.items():
            for handle in handles:
                handle.visible = self.shown[name]
        self.update()

    def update(self) -> None:
        """Move everything to the current state."""
        state = self.state
        _place(self.robot, state.poses())
        self.ball.update()
        center = state.center_of_mass()
        if center is not None:
            self.layers["centre of mass"][0].position = tuple(center)
        origin = state.frame_pose(state.frame)[:3, 3]
        for name, vector, color in (("force", state.force, FORCE), ("moment", state.moment, MOMENT)):
            length = np.linalg.norm(vector)
            if length:  # logarithmic, so that 1 N is visible and 1000 N fits the page
                reach = 0.13 * state.size * np.log10(10 * max(length, 1.0))
                mesh = arrow(origin, origin + vector / length * reach, 0.011 * state.size)
                self._mesh(f"/world/wrench/{name}", mesh, color)
            else:
                self.scene.remove_by_name(f"/world/wrench/{name}")

    def overlay(self, motions: Sequence[Motion]) -> None:
        """Replace the ghosts and their paths by those of these motions."""
        for k in range(len(self.ghosts)):
            self.scene.remove_by_name(f"/world/ghost{k}")  # and all below it
        self.ghosts = []
        for k, motion in enumerate(motions):
            color = GHOSTS[k % len(GHOSTS)]
            self.scene.add_frame(f"/world/ghost{k}", show_axes=False)
            bodies = self._bodies(f"/world/ghost{k}")
            self._add(self.looks[self.look], f"/world/ghost{k}", "ghost", color, opacity=0.35, cast_shadow=False)
            self._path(f"/world/ghost{k}/path", motion, color)
            self.ghosts.append((bodies, motion))

    def stay_in_sight(self) -> None:
        """Move the world so that the robot stays in view; only along the ground, if there is one."""
        way = self.state.base_position() - self.start if self.followed else np.zeros(3)
        if self.state.ground:
            way -= self.state.ground[1] * (self.state.ground[1] @ way)
        self.world.position = tuple(-way)

    def follow(self, time: float) -> None:
        """Move the ghosts to a time of their motions."""
        for bodies, motion in self.ghosts:
            _place(bodies, placed(self.state.robot.model, motion.at(time)[0]))

    def _path(self, name: str, motion: Motion, color: Any) -> None:
        """Draw the path of the frame that the wrench acts on."""
        model = self.state.robot.model
        frame = model.frame(self.state.frame)
        times = np.linspace(motion.t[0], motion.t[-1], min(PATH, 4 * len(motion.t)))
        origin = [*map(float, frame.pose.origin), 1.0]
        points = np.array([(poses(model, motion.at(t)[0])[frame.body] @ origin)[:3] for t in times])
        segments = np.stack([points[:-1], points[1:]], axis=1)
        self.scene.add_line_segments(name, segments, color, thickness=0.006 * self.state.size)


def _merged(shapes: Sequence[Shape]) -> list[Shape]:
    """Join the shapes of each body and colour: fewer nodes are sent and drawn faster."""
    groups: dict[tuple[int, Any], list[Shape]] = {}
    for shape in shapes:
        groups.setdefault((shape.body, shape.color), []).append(shape)
    return [
        Shape(group[0].name, body, joined([s.mesh for s in group]), color) for (body, color), group in groups.items()
    ]


def _place(nodes: Sequence[Any], poses: Sequence[np.ndarray] | np.ndarray) -> None:
    for node, pose in zip(nodes, poses, strict=True):
        node.wxyz, node.position = _wxyz(pose[:3, :3]), tuple(pose[:3, 3])


def _wxyz(rotation: np.ndarray) -> tuple[float, ...]:
    x, y, z, w = quaternion_from_rotation(rotation)
    return w, x, y, z


def _view_from(state: State, up: np.ndarray) -> np.ndarray:
    """Return a unit vector to the camera: from the side of a planar robot, else from the front and above."""
    model, at = state.robot.model, state.poses()
    tree = model.expand([float(x) for x in state.q])
    turns = [
        (i, S.angular) for i, _ in model.outward() if not model.joint(i).kind.free for S in model.subspace(i, tree)
    ]
    axes = np.array([at[i][:3, :3] @ [*map(float, axis)] for i, axis in turns if any(axis)])
    basis = z_toward(up)
    side = basis @ np.array([1.0, -1.15, 0.62])
    if len(axes) and np.allclose(np.abs(axes @ axes[0]), 1) and abs(axes[0] @ up) < 0.1:
        side = axes[0] + 0.35 * np.cross(up, axes[0]) + 0.25 * up
    return side / np.linalg.norm(side)
