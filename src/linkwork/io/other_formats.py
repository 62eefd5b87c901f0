"""Formats of robots that linkwork does not read, by suffix: what they are, and how to convert them."""

XACRO = "xacro FILE > OUT.urdf (of ROS), or: pip install xacrodoc, then xacrodoc FILE -o OUT.urdf"
SDF = "give the URDF it was made from, or write one: in ROS the package sdformat_urdf parses SDF as URDF"
USD = "give the URDF or MJCF it was made from, or export one: Isaac Sim has a USD to URDF exporter"

OTHERS = {
    ".xacro": ("a xacro file, a template that makes URDF", f"expand it first: {XACRO}"),
    ".sdf": ("SDF, Gazebo's format", SDF),
    ".world": ("SDF, Gazebo's format", SDF),
    **dict.fromkeys((".usd", ".usda", ".usdc", ".usdz"), ("USD, a format of scenes", USD)),
    ".srdf": ("SRDF, which has no dynamics", "give the URDF that belongs to it"),
    ".mjb": ("a model compiled by MuJoCo", "give the XML it was compiled from"),
}
