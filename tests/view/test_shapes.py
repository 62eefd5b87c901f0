"""What is drawn: solids, the primitives of every bundled robot, ellipsoids, the visuals of a URDF file."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

import linkwork
from linkwork.forces import Spring
from linkwork.io import bundled_robots
from linkwork.io.rpy import rotation_from_quaternion
from linkwork.model import Modal
from linkwork.model.rotations import quaternion_from_rotation, rotation_from_rpy
from linkwork.view import meshes
from linkwork.view.mesh_files import MeshFiles
from linkwork.view.primitives import WIDTH, primitives, reach
from linkwork.view.shapes import PIECES, curves, ellipsoids, ground, placed, poses
from linkwork.view.state import start
from linkwork.view.visuals import read_visuals
from support.playground import playground


def moments(mesh):
    """Volume, and its first and second moments, as sums over the tetrahedra between the faces and the origin."""
    corners = mesh.vertices[mesh.faces]
    volumes = np.linalg.det(corners) / 6
    sums = corners.sum(axis=1)
    second = np.einsum("f,fi,fj->ij", volumes, sums, sums) + np.einsum("f,fci,fcj->ij", volumes, corners, corners)
    return volumes.sum(), volumes @ sums / 4, second / 20


@pytest.mark.parametrize(
    ("mesh", "volume"),
    [
        (meshes.box(1.0, 2.0, 3.0), 6.0),
        (meshes.cylinder(0.5, 2.0), np.pi / 2),
        (meshes.screw(0.5, 2.0), np.pi / 2 * 0.73),
        (meshes.sphere(2.0), 4 / 3 * np.pi * 8),
        (meshes.tube([1, 0, 0], [1, 4, 0], 0.1, 0.05), np.pi * (4 * 0.0175 / 3 + 2 / 3 * 1.125e-3)),
        (meshes.arrow(np.zeros(3), [0, 0, 1.0], 0.02), np.pi * (0.02**2 * 0.9 + 0.048**2 * 0.1 / 3)),
        (meshes.plate(np.array([[0, 0, 0], [2, 0, 0], [2, 1, 0], [0, 1, 0], [1, 0.5, 0]]), [0, 0, 1], 0.1, 1e-9), 0.2),
    ],
)  # fmt: skip
def test_solids_have_their_volume_and_face_outward(mesh, volume):
    assert moments(mesh)[0] == pytest.approx(volume, rel=0.03)  # round ones have corners


def test_a_mirrored_mesh_still_faces_outward():
    assert moments(meshes.box(1, 1, 1).scaled([1, -1, 2]))[0] == pytest.approx(2)


def test_quaternion_of_a_rotation():
    for angles in np.random.default_rng(1).uniform(-np.pi, np.pi, (20, 3)):
        rotation = rotation_from_rpy(*angles)
        found = quaternion_from_rotation(rotation)
        assert np.linalg.norm(found) == pytest.approx(1) and found[3] >= 0
        np.testing.assert_allclose(rotation_from_quaternion(*found), rotation, atol=1e-12)


@pytest.mark.parametrize("name", bundled_robots())
def test_every_robot_is_drawn_with_its_joints_in_their_places(name):
    robot = linkwork.load(name)
    q = start(robot)
    size, shapes = reach(robot.model, q), {shape.name: shape for shape in primitives(robot.model, q)}
    at = poses(robot.model, q)
    last = robot.model.bodies[-1]
    np.testing.assert_allclose(
        at[-1][:3, :3] @ [*map(float, robot.model.link_pose(len(at) - 1).origin)] + at[-1][:3, 3],
        robot.pose(last.name, q)[:3, 3],
        atol=1e-12,
    )  # by compiled code
    for i, body in enumerate(robot.model.bodies, 1):
        if body.joint.revolute:
            shape = shapes[body.joint.name]
            middle = shape.mesh.vertices.mean(axis=0)
            np.testing.assert_allclose(middle, [*map(float, robot.model.link_pose(i).origin)], atol=1e-12)
            assert shape.body == i
    for shape in shapes.values():
        assert np.isfinite(shape.mesh.vertices).all()
        assert np.ptp(shape.mesh.vertices, axis=0).max() < 1.5 * size


@pytest.mark.parametrize("name", ["flexible-beam", "flexible-crane"])
def test_beams_are_drawn_bent(name):
    """In pieces, each along z from a point of the beam to the next one, the last one to the tip."""
    robot = linkwork.load(name)
    model, q = robot.model, robot.coordinates.random(5)
    shapes = {shape.name: shape for shape in primitives(model, start(robot))}
    ((i, p, line),) = curves(model, q)
    at, joint = placed(model, q), model.joint(i)
    points = line @ at[p][:3, :3].T + at[p][:3, 3]
    np.testing.assert_allclose(points[-1], robot.pose(model.body(i).name, q)[:3, 3], atol=1e-12)  # by compiled code
    for k in range(PIECES):
        piece = shapes[f"{joint.name}_{k + 1}"]
        pose = at[piece.body]
        end = pose[:3, 3] + piece.mesh.vertices[:, 2].mean() * 2 * pose[:3, 2]
        np.testing.assert_allclose(pose[:3, 3], points[k], atol=1e-12)
        np.testing.assert_allclose(
            end, points[k + 1], atol=2e-4 * np.linalg.norm(line[-1])
        )  # its length is that at rest
    d = q[list(model.positions(i))]
    first, *_, before, last = joint.kind.line(np.array([1e-6, 1 - 1e-6, 1.0]), d)
    assert abs(first[1:]).max() < 1e-9  # clamped
    slope = at[p][:3, :3] @ (last - before)
    np.testing.assert_allclose(slope / np.linalg.norm(slope), robot.pose(model.body(i).name, q)[:3, 0], atol=1e-3)


def test_places_along_a_beam_are_no_further_beams(tmp_path):
    """They are part of one: what is fixed there is drawn, as at the tip."""
    text = (Path(linkwork.__file__).parent / "robots" / "flexible-beam.yaml").read_text()
    row = "  - {name: middle, link: middle, flexible: {along: bend, at: 0.5}}\n\n"
    body = "  - {link: middle, M: 0.1, central: [1e-4, 1e-4, 1e-4]}\n\ndrives:"
    (tmp_path / "robot.yaml").write_text(
        text.replace("\n# The beam's", row + "# The beam's").replace("\ndrives:", body)
    )
    robot = linkwork.load(tmp_path / "robot.yaml")
    model, q = robot.model, robot.coordinates.random(1)
    ((tip, _, line),) = curves(model, q)
    assert model.body(tip).name == "tip" and len(placed(model, q)) == model.n_bodies + 1 + PIECES
    bodies = poses(model, q)
    middle = next(i for i, body in enumerate(model.bodies, 1) if body.name == "middle")
    at = bodies[1][:3, :3] @ line[PIECES // 2] + bodies[1][:3, 3]
    np.testing.assert_allclose(bodies[middle][:3, 3], at, atol=1e-12)
    assert [shape.body for shape in primitives(model, q) if shape.name == "middle"] == [middle]


def test_modal_data_are_drawn_between_root_and_tip():
    """As a cubic, whose end is shifted and turned as the tip is."""
    shifts, turns = np.array([[0, 1, 0.2], [0.1, 0, 1]]), np.array([[0.3, 0.1, 2.0], [0, -1.5, 0.2]])
    more = {"first": np.zeros((2, 3)), "second": np.zeros((2, 3, 3)), "frequencies": (1, 2)}
    modal = Modal((0.6, 0.1, 0.2), shifts, turns, products=np.eye(2)[:, :, None, None] * np.eye(3), **more)
    d, tip, h = np.array([0.01, -0.02]), np.array([0.6, 0.1, 0.2]), 1e-6
    first, before, last = modal.line(np.array([h, 1 - h, 1.0]), d)
    np.testing.assert_allclose(first / h, tip, atol=1e-6)
    np.testing.assert_allclose(last, tip + d @ shifts, rtol=1e-12)
    np.testing.assert_allclose((last - before) / h, tip + np.cross(d @ turns, tip), atol=1e-6)


def test_joints_of_every_kind_are_drawn_along_their_axes():
    robot = linkwork.load(playground())
    q = robot.coordinates.random(3)
    at, shapes = poses(robot.model, q), {shape.name: shape for shape in primitives(robot.model, q)}
    pose = {link: robot.pose(link, q) for link in ("cart", "upper", "fore", "hand", "nut", "load", "crate")}

    def drawn(name):
        shape = shapes[name]
        return shape.mesh.vertices @ at[shape.body][:3, :3].T + at[shape.body][:3, 3], shape.body

    def along(name):
        """Where it is longest."""
        points = drawn(name)[0]
        return np.linalg.svd(points - points.mean(axis=0))[2][0]

    for name, link in (("shoulder", "upper"), ("elbow", "fore"), ("feed", "nut")):
        np.testing.assert_allclose(drawn(name)[0].mean(axis=0), pose[link][:3, 3], atol=1e-9)
    radii = np.linalg.norm(drawn("shoulder")[0] - pose["upper"][:3, 3], axis=1)
    np.testing.assert_allclose(radii, radii[0])  # a ball
    first, second = along("elbow_first"), along("elbow")
    assert abs(first @ pose["upper"][:3, 0]) == pytest.approx(1)
    assert abs(second @ pose["fore"][:3, 1]) == pytest.approx(1)
    assert abs(first @ second) < 1e-9 and drawn("elbow_first")[1] == drawn("upper")[1]  # fixed in the parent
    for name, link in (("wrist", "hand"), ("feed", "nut")):
        assert abs(along(name) @ pose[link][:3, 2]) == pytest.approx(1)
    plate, body = drawn("drive_plate")
    assert body == 0 and np.ptp(plate, axis=0)[2] < 0.1 * np.ptp(plate, axis=0)[0]
    np.testing.assert_allclose(plate.mean(axis=0), 0, atol=1e-9)  # where the joint begins
    for link, sides in (("load", (0.3, 0.2, 0.15)), ("crate", (0.25, 0.25, 0.25))):
        own = (drawn(link)[0] - pose[link][:3, 3]) @ pose[link][:3, :3]
        np.testing.assert_allclose(np.ptp(own, axis=0), sides, rtol=1e-9)


def test_springs_are_marked_at_their_places():
    robot = linkwork.load("ur5e").with_forces({"tool0": Spring(("forearm_link", (0.1, 0.2, 0.9)), 10.0)})
    model = robot.model
    shapes = {shape.name: shape for shape in primitives(model, model.coordinates.neutral())}
    for name, frame in (("spring1_1", model.frame("tool0")), ("spring1_2", model.frame("forearm_link"))):
        assert shapes[name].body == frame.body
        assert np.abs(shapes[name].mesh.vertices.mean(axis=0) - [*frame.pose.origin]).max() < 1e-3
    assert shapes["spring1_3"].body == 0
    assert np.abs(shapes["spring1_3"].mesh.vertices.mean(axis=0) - [0.1, 0.2, 0.9]).max() < 1e-3


def test_rotors_and_thrusters_are_drawn_where_they_push():
    """Discs across z of their frames; nozzles that widen against their force."""
    for name, thin in (("quadrotor", 2), ("space-arm", None)):
        model = linkwork.load(name).model
        shapes = {shape.name: shape.mesh.vertices for shape in primitives(model, model.coordinates.neutral())}
        for frame, law in model.forces:
            own = shapes[frame.name] - [*map(float, frame.pose.origin)]
            size = np.ptp(own, axis=0)
            if thin is not None:
                assert size[thin] < 0.2 * size.max() and np.abs(own.mean(axis=0)[:2]).max() < 1e-9
            else:
                assert (own @ np.array(law.axis)).max() < 1e-12 < size.min()


def test_feet_and_wheels_are_drawn_down_to_the_ground():
    """Soles of their sizes, wheels beside what carries them, small ones for blades."""
    robot = linkwork.load("biped")
    model, q = robot.model, robot.standing_position()
    sole = next(shape for shape in primitives(model, q) if shape.name == "left")
    body = poses(model, q)[sole.body]
    low = sole.mesh.vertices @ body[:3, :3].T + body[:3, 3]
    np.testing.assert_allclose(np.ptp(low, axis=0)[:2], model.switched[0].kind.size, atol=1e-9)
    assert low[:, 2].min() == pytest.approx(0, abs=1e-9)
    model = linkwork.load("differential-drive").model
    shapes = {shape.name: shape.mesh.vertices for shape in primitives(model, model.home)}
    inside = shapes["body"][np.abs(shapes["body"][:, 1]) > 0.2 - WIDTH / 2 * 0.125]  # the wheel: an axle alone
    assert 0 < np.ptp(inside[:, 0]) < 0.5 * 0.125
    model = linkwork.load("snake").model
    shapes = {shape.name: shape.mesh.vertices for shape in primitives(model, model.home)}
    assert "head" not in shapes and np.ptp(shapes["wheels1"][:, 1]) > np.ptp(shapes["wheels1"][:, 2])
    assert np.ptp(shapes["link5"][:, 0]) > 0.2  # up to its tail, beyond its wheels
    for name, height in (("biped", 0.0), ("car", 0.0), ("panda", None), ("snake", None)):
        found = ground(linkwork.load(name).model)
        assert found is None if height is None else found is not None and found[0] @ found[1] == height


def test_links_reach_from_joint_to_joint():
    robot = linkwork.load("planar2r")
    shapes = {shape.name: shape for shape in primitives(robot.model, [0.0, 0.0])}
    assert np.ptp(shapes["upper_arm"].mesh.vertices, axis=0).max() == pytest.approx(1.0, rel=0.2)  # and round ends
    assert shapes["upper_arm"].body == 1 and shapes["forearm"].body == 2


def test_ellipsoids_have_the_inertia_of_their_bodies():
    model = linkwork.load("panda").model
    for shape in ellipsoids(model):
        volume, first, second = moments(shape.mesh)
        mass, center, central = model.inertia(shape.body).central()
        np.testing.assert_allclose(first / volume, [*center], atol=1e-3)
        about = second / volume - np.outer(first, first) / volume**2
        wanted = np.array([list(row) for row in central.rows])
        found = mass * (np.trace(about) * np.eye(3) - about)
        np.testing.assert_allclose(found, wanted, atol=0.06 * np.abs(wanted).max())  # a sphere with corners is smaller


URDF = """<robot name="r">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="base"><visual><geometry><box size="1 2 3"/></geometry><material name="red"/></visual></link>
  <link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 1" rpy="0 1.5707963267948966 0"/>
      <geometry><cylinder radius="0.1" length="2"/></geometry></visual>
    <visual><geometry><mesh filename="package://some_robot/meshes/part.obj" scale="2 2 2"/></geometry></visual>
    <visual><geometry><mesh filename="part.obj"/></geometry></visual>
    <visual><geometry><mesh filename="package://other/gone.stl"/></geometry></visual>
  </link>
  <joint name="j" type="continuous">
    <parent link="base"/><child link="arm"/><origin xyz="0 0 5"/><axis xyz="0 1 0"/></joint>
</robot>"""
OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"


def test_visuals_of_a_urdf(tmp_path):
    pytest.importorskip("trimesh")
    folder = tmp_path / "some_robot" / "urdf"
    folder.mkdir(parents=True)
    (tmp_path / "some_robot" / "meshes").mkdir()
    (tmp_path / "some_robot" / "meshes" / "part.obj").write_text(OBJ)
    (folder / "part.obj").write_text(OBJ)
    (folder / "r.urdf").write_text(URDF)
    robot = linkwork.load(folder / "r.urdf")
    shapes, missing = read_visuals(robot.model, folder / "r.urdf")
    assert [shape.body for shape in shapes] == [0, 1, 1, 1]
    assert shapes[0].color == (255, 0, 0)
    assert len(missing) == 1 and "package://other/gone.stl" in missing[0]
    at = poses(robot.model, [0.0])
    corners = [shape.mesh.vertices @ at[shape.body][:3, :3].T + at[shape.body][:3, 3] for shape in shapes]
    np.testing.assert_allclose(np.ptp(corners[0], axis=0), [1, 2, 3])
    np.testing.assert_allclose(np.ptp(corners[1], axis=0), [2, 0.2, 0.2], atol=1e-3)
    np.testing.assert_allclose(corners[1].mean(axis=0), [0, 0, 6], atol=1e-9)
    np.testing.assert_allclose(corners[2].max(axis=0), [2, 2, 7])
    np.testing.assert_allclose(corners[3].max(axis=0), [1, 1, 6])


def test_packages_are_found_on_ros_paths(tmp_path, monkeypatch):
    (tmp_path / "ros" / "pack").mkdir(parents=True)
    (tmp_path / "ros" / "pack" / "a.stl").touch()
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "ros"))
    elsewhere = tmp_path / "far" / "r.urdf"
    files = MeshFiles(elsewhere)
    assert files.find("package://pack/a.stl") == tmp_path / "ros" / "pack" / "a.stl"
    with pytest.raises(linkwork.LinkworkError, match="does not exist"):
        files.find("package://pack/b.stl")
    (tmp_path / "source.stl").touch()
    (tmp_path / "ros" / "pack" / "linked.stl").symlink_to(tmp_path / "source.stl")  # as colcon installs them
    assert files.find("package://pack/linked.stl").name == "linked.stl"
    with pytest.raises(linkwork.LinkworkError, match="is outside the folder"):
        files.find("package://pack/../../source.stl")


OUTSIDE = [
    "../secret.stl",
    "file://{}/secret.stl",
    "package://other/a.stl",
    "link.stl",
    "package://robot/../secret.stl",
]


@pytest.mark.parametrize("name", OUTSIDE)
def test_meshes_stay_in_the_folder_or_the_package(tmp_path, name):
    folder = tmp_path / "robot"
    for place in (folder, tmp_path / "other"):
        place.mkdir()
    for path in (tmp_path / "secret.stl", tmp_path / "other" / "a.stl", folder / "own.stl"):
        path.touch()
    (folder / "link.stl").symlink_to(tmp_path / "secret.stl")
    name = name.format(tmp_path)
    with pytest.raises(linkwork.LinkworkError, match=r"is outside the folder .*allow_external_files=True\) opens it"):
        MeshFiles(folder / "r.urdf").find(name)
    assert MeshFiles(folder / "r.urdf", allow_external_files=True).find(name).is_file()
    assert MeshFiles(folder / "r.urdf").find("own.stl").is_file()


def test_meshes_of_packages(tmp_path):
    """The URDF's own package, and one beside it, by their package.xml."""
    for package in ("robot", "other"):
        (tmp_path / package / "urdf").mkdir(parents=True)
        (tmp_path / package / "package.xml").touch()
        (tmp_path / package / "a.stl").touch()
    files = MeshFiles(tmp_path / "robot" / "urdf" / "r.urdf")
    assert files.find("../a.stl") == files.find("package:///robot/a.stl") == tmp_path / "robot" / "a.stl"
    assert files.find("package://other/a.stl") == tmp_path / "other" / "a.stl"


def zipped(name: str, data: bytes) -> bytes:
    with zipfile.ZipFile(stream := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return stream.getvalue()


NODES = b"<COLLADA><library_nodes><node id='a'><instance_node url='#b'/></node></library_nodes></COLLADA>"


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.zip", zipped("a.obj", OBJ.encode()), "this mesh format is not supported"),
        ("a.glb", b"", "this mesh format is not supported"),
        ("a.dae", zipped("a.dae", b"<COLLADA/>"), "archives are refused"),
        ("a.dae", b"<!DOCTYPE a [<!ENTITY b 'c'>]><COLLADA/>", "document types are refused"),
        ("a.dae", "<!DOCTYPE a><COLLADA/>".encode("utf-16"), "document types are refused"),
        ("a.dae", NODES, "nodes within nodes are refused"),
        ("a.stl", bytes(1001), "the file is too long"),
        ("a.obj", OBJ.encode() + b"f 1 2 3\n" * 50, "the file is too long"),
    ],
)
def test_meshes_that_are_not_opened(tmp_path, monkeypatch, name, data, words):
    monkeypatch.setattr("linkwork.view.mesh_files.MOST_BYTES", 400)
    (tmp_path / name).write_bytes(data)
    with pytest.raises(linkwork.LinkworkError, match=words):
        MeshFiles(tmp_path / "r.urdf").read(name)


def test_all_meshes_together_are_bounded(tmp_path, monkeypatch):
    pytest.importorskip("trimesh")
    (tmp_path / "a.obj").write_text(OBJ)
    monkeypatch.setattr("linkwork.view.mesh_files.MOST_OF_ALL", 2 * len(OBJ))
    files = MeshFiles(tmp_path / "r.urdf")
    for _ in range(2):
        files.read("a.obj")
    with pytest.raises(linkwork.LinkworkError, match="the meshes are larger than 0 MB together"):
        files.read("a.obj")
    monkeypatch.setattr("linkwork.view.mesh_files.MOST_CORNERS", 7)
    files = MeshFiles(tmp_path / "r.urdf")
    files.read("a.obj")
    with pytest.raises(linkwork.LinkworkError, match="more than 7 corners"):
        files.read("a.obj")


def test_colours_beside_an_obj_and_no_other_files(tmp_path):
    pytest.importorskip("trimesh")
    colours = "newmtl red\nKd 1 0 0\nmap_Kd secret.png\n"
    (tmp_path / "robot").mkdir()
    for folder in (tmp_path, tmp_path / "robot"):
        (folder / "red.mtl").write_text(colours)
    for library, colour in (("red.mtl", (255, 0, 0)), ("../blue.mtl", None)):
        (tmp_path / "blue.mtl").write_text(colours.replace("1 0 0", "0 0 1"))
        (tmp_path / "robot" / "a.obj").write_text(f"mtllib {library}\nusemtl red\n{OBJ}")
        ((_, found),) = MeshFiles(tmp_path / "robot" / "r.urdf").read("a.obj")
        assert found == colour


def test_meshes_of_an_mjcf_are_drawn_from_its_folder_alone(tmp_path):
    pytest.importorskip("mujoco")
    (tmp_path / "robot").mkdir()
    (tmp_path / "a.obj").write_text(OBJ)
    path = tmp_path / "robot" / "r.xml"
    path.write_text(
        '<mujoco><asset><mesh name="a" file="../a.obj"/></asset><worldbody><body name="b"><joint/><geom size=".1"/>'
        '<geom type="mesh" mesh="a" mass="0"/></body></worldbody></mujoco>'
    )
    model = linkwork.load(path).model
    shapes, (missing,) = read_visuals(model, path)
    assert not shapes and "it is outside the folder of the model" in missing
    shapes, missing = read_visuals(model, path, allow_external_files=True)
    assert len(shapes) == 2 and not missing


MJCF = """<mujoco><worldbody>
  <body name="upper" pos="0 0 1" euler="20 30 0"><joint name="a" axis="0 1 0" pos="0.1 0 0.2"/>
    <geom type="capsule" size="0.05" fromto="0 0 0 0.5 0.1 0" rgba="1 0.2 0 1"/>
    <geom type="box" size="0.1 0.2 0.3" group="3"/>
    <body name="lower" pos="0.5 0 0"><joint name="b" type="slide" axis="1 0 1"/>
      <geom type="box" size="0.1 0.2 0.3" pos="0 0.3 0" euler="0 0 40"/>
      <geom type="ellipsoid" size="0.1 0.2 0.3"/></body>
  </body></worldbody></mujoco>"""


def test_geoms_of_an_mjcf_are_where_mujoco_has_them(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    path, q = tmp_path / "r.xml", [0.4, -0.2]
    path.write_text(MJCF)
    robot = linkwork.load(path)
    shapes, missing = read_visuals(robot.model, path)
    assert not missing and [shape.body for shape in shapes] == [1, 2, 2]
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_forward(model, data)
    at = poses(robot.model, q)
    for shape, g in zip(shapes, (0, 2, 3)):
        corners = shape.mesh.vertices @ at[shape.body][:3, :3].T + at[shape.body][:3, 3]
        own = (corners - data.geom_xpos[g]) @ data.geom_xmat[g].reshape(3, 3)
        widths = [0.1, 0.1, np.hypot(0.5, 0.1) + 0.1] if g == 0 else [0.2, 0.4, 0.6]
        np.testing.assert_allclose(own.max(axis=0), np.array(widths) / 2, rtol=0.03)
        np.testing.assert_allclose(-own.min(axis=0), np.array(widths) / 2, rtol=0.03)
    assert shapes[0].color == (255, 51, 0)


def test_geoms_of_an_mjcf_with_materials_meshes_and_hostile_sizes(tmp_path):
    pytest.importorskip("mujoco")
    path = tmp_path / "r.xml"
    path.write_text("""<mujoco><asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/>
    <texture name="t" type="2d" builtin="flat" width="100000" height="100000"/>
    <material name="red" rgba="1 0 0 1" texture="t"/><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>
    <mesh name="absent" file="absent.obj"/></asset>
    <worldbody><geom type="hfield" hfield="h"/><body name="a"><joint/><geom type="mesh" mesh="m" material="red"/></body>
    </worldbody></mujoco>""")
    robot = linkwork.load(path)
    assert "absent.obj" in read_visuals(robot.model, path)[1][0]
    path.write_text(path.read_text().replace('<mesh name="absent" file="absent.obj"/>', ""))
    ((shape,), missing) = read_visuals(robot.model, path)
    assert not missing and shape.color == (255, 0, 0) and len(shape.mesh.vertices) == 4
